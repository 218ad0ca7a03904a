import { createServer } from 'node:http'
import { parse, type Type } from 'protobufjs'
import { listeningInTest } from './listening.ts'

/** The parts of the messages of opentelemetry-proto 1 that the server uses, with their field numbers. */
const { root } = parse(`
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; } }
message ArrayValue { repeated AnyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message TraceRequest { repeated ResourceSpans resource_spans = 1; }
message Scope { string name = 1; string version = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; string schema_url = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
}
message Status { string message = 2; int32 code = 3; }
message MetricsRequest { repeated ResourceMetrics resource_metrics = 1; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; string schema_url = 3; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; string schema_url = 3; }
message Metric { string name = 1; string unit = 3; Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
message Gauge { repeated NumberPoint data_points = 1; }
message Sum { repeated NumberPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message NumberPoint { double as_double = 4; sfixed64 as_int = 6; repeated KeyValue attributes = 7; }
message Histogram { repeated HistogramPoint data_points = 1; int32 aggregation_temporality = 2; }
message HistogramPoint { fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7; repeated KeyValue attributes = 9; }
`)

type Attributes = Readonly<Record<string, unknown>>

interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly traceState: string
  readonly name: string
  /** 2: of a server, 3: of a client. */
  readonly kind: number
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Attributes
  /** 2: an error. */
  readonly status: number
  readonly resource: Attributes
  readonly schema: Schema
}

/** The instrumentation scope of a span or a metric, and the conventions that it and its resource follow. */
interface Schema {
  readonly scope: string
  readonly url: string
  readonly resourceUrl: string
}

interface ReceivedMetric {
  readonly unit: string
  readonly schema: Schema
}

interface ReceivedPoint {
  readonly attributes: Attributes
  readonly value?: number
  readonly count?: number
  readonly sum?: number
  readonly bucketCounts?: readonly number[]
  readonly bounds?: readonly number[]
}

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

/** A collector on loopback that accepts OTLP over HTTP in protobuf, and records what it receives. It stops with the test. */
export async function otlpCollector() {
  const spans: ReceivedSpan[] = []
  const metrics = new Map<string, readonly ReceivedPoint[]>()
  const described = new Map<string, ReceivedMetric>()
  const headers: Readonly<Record<string, unknown>>[] = []
  let status = 200
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      headers.push(request.headers)
      response.writeHead(status, { 'content-type': 'application/x-protobuf' }).end()
      if (status !== 200) return
      const body = Buffer.concat(chunks)
      if (request.url === '/v1/traces') spans.push(...spansIn(decode('TraceRequest', body)))
      if (request.url !== '/v1/metrics') return
      for (const { name, points, ...metric } of metricsIn(decode('MetricsRequest', body))) {
        metrics.set(name, points)
        described.set(name, metric)
      }
    })
  })
  return {
    url: await listeningInTest(server),
    spans,
    metrics,
    /** The unit and the schema of each metric. */
    described,
    headers,
    refuse() {
      status = 400
    },
  }
}

function decode(name: string, body: Buffer) {
  const type: Type = root.lookupType(name)
  // The types match the declarations above.
  return type.toObject(type.decode(body), { longs: Number, defaults: true, arrays: true, oneofs: false, bytes: Array }) as never
}

const hex = (bytes: readonly number[]) => Buffer.from(bytes).toString('hex')

function plainOf(attributes: readonly KeyValue[]): Attributes {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, anyValueOf(value)]))
}

function anyValueOf(value: Readonly<Record<string, unknown>>): unknown {
  const { arrayValue, ...plain } = value
  if (arrayValue) return (arrayValue as { values: Readonly<Record<string, unknown>>[] }).values.map(anyValueOf)
  return Object.values(plain)[0]
}

interface RawSpan {
  readonly traceId: number[]
  readonly spanId: number[]
  readonly parentSpanId: number[]
  readonly traceState: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: number
  readonly endTimeUnixNano: number
  readonly attributes: KeyValue[]
  readonly status: { readonly code: number } | null
}

function spansIn({ resourceSpans }: { resourceSpans: (RawResource & { scopeSpans: (RawScope & { spans: RawSpan[] })[] })[] }) {
  return resourceSpans.flatMap(({ resource, schemaUrl, scopeSpans }) =>
    scopeSpans.flatMap(({ spans, ...scope }) =>
      spans.map(
        (span): ReceivedSpan => ({
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentId: hex(span.parentSpanId),
          traceState: span.traceState,
          name: span.name,
          kind: span.kind,
          startMs: span.startTimeUnixNano / 1e6,
          endMs: span.endTimeUnixNano / 1e6,
          attributes: plainOf(span.attributes),
          status: span.status?.code ?? 0,
          resource: plainOf(resource.attributes),
          schema: schemaOf(scope, schemaUrl),
        }),
      ),
    ),
  )
}

interface RawResource {
  readonly resource: { attributes: KeyValue[] }
  readonly schemaUrl: string
}

interface RawScope {
  readonly scope: { readonly name: string; readonly version: string } | null
  readonly schemaUrl: string
}

function schemaOf({ scope, schemaUrl }: RawScope, resourceUrl: string): Schema {
  return { scope: `${scope?.name} ${scope?.version}`, url: schemaUrl, resourceUrl }
}

interface RawPoint {
  readonly attributes: KeyValue[]
  readonly asDouble: number
  readonly count: number
  readonly sum: number
  readonly bucketCounts: number[]
  readonly explicitBounds: number[]
}

interface RawMetric {
  readonly name: string
  readonly unit: string
  readonly gauge: { dataPoints: RawPoint[] } | null
  readonly sum: { dataPoints: RawPoint[] } | null
  readonly histogram: { dataPoints: RawPoint[] } | null
}

function metricsIn({
  resourceMetrics,
}: {
  resourceMetrics: (RawResource & { scopeMetrics: (RawScope & { metrics: RawMetric[] })[] })[]
}) {
  const all = resourceMetrics.flatMap(({ schemaUrl, scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics, ...scope }) => metrics.map((metric) => ({ ...metric, schema: schemaOf(scope, schemaUrl) }))),
  )
  return all.map(({ name, unit, schema, gauge, sum, histogram }): ReceivedMetric & { name: string; points: ReceivedPoint[] } => {
    const numbers = (gauge ?? sum)?.dataPoints.map(({ attributes, asDouble }) => ({
      attributes: plainOf(attributes),
      value: asDouble,
    }))
    const buckets = histogram?.dataPoints.map((point) => ({
      attributes: plainOf(point.attributes),
      count: point.count,
      sum: point.sum,
      bucketCounts: point.bucketCounts,
      bounds: point.explicitBounds,
    }))
    return { name, unit, schema, points: numbers ?? buckets ?? [] }
  })
}
