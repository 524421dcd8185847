// Forward declarations of every public type, so that your headers need not include ours.
#pragma once

#include <davit/global.h>

namespace davit::priv {
class ClientBackend;
class ClockBackend;
class EventBackend;
class HostBackend;
class InformerBackend;
class ListerBackend;
class LogBackend;
class MetricCell;
class MetricsBackend;
class ReconcileState;
struct ControllerSpec;
struct PoolAccess;
} // namespace davit::priv

DAVIT_BEGIN_NAMESPACE
class BodyReply;
class Client;
class Clock;
class Cluster;
class Consistency;
class ControllerBuilder;
class ControllerPlugin;
class Counter;
class Error;
class EventFilter;
class EventRecorder;
class FieldSelector;
class FinalizerRegistry;
class Gauge;
class Histogram;
class HostContext;
class IndexFunction;
class Informer;
class InformerRequest;
class KeyMapper;
class LabelSelector;
class Lister;
class ListReply;
class Logger;
class Metrics;
class Object;
class ObjectBuilder;
class ObjectReply;
class Patch;
class Predicate;
class Quantity;
class ReconcileContext;
class Reconciler;
class ReconcileRequest;
class ReconcileResult;
class RequestOptions;
class ShardSelector;
class Status;
class Table;
class Value;
enum class ConsistencyType : quint8;
enum class Delivery : quint8;
enum class ErrorCode : quint16;
enum class EventType : quint8;
enum class FieldValidation : quint8;
enum class OperationResult : quint8;
enum class Payload : quint8;
struct Backoff;
struct Condition;
struct ErrorCause;
struct Gvk;
struct ObjectEvent;
struct ObjectKey;
struct Written;
template <typename T> class Result;
DAVIT_END_NAMESPACE
