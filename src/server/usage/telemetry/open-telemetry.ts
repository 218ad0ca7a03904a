import { hostname } from 'node:os'
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api'
import { type ExportResult, ExportResultCode, parseKeyPairsIntoRecord } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { Env } from '../../base/env.ts'
import { version } from '../../base/lib/process/version.ts'
import { withActiveTimeout } from '../../base/lib/time/active-time.ts'
import type { Core } from '../../base/options/core.ts'
import type { CallTracer } from '../calls/call-traces.ts'
import type { CallObserver } from '../calls/ended-calls.ts'
import { CallSpans } from './call-spans.ts'
import { GenAiMetrics } from './gen-ai-metrics.ts'
import { RegistryProducer } from './registry-producer.ts'

/**
 * Traces and metrics over OTLP, by the SDK of OpenTelemetry, which reads its `OTEL_…` variables itself. This folder is loaded only
 * if a collector is configured. Nothing waits for the collector: data that it does not accept in time is dropped.
 */
export interface Telemetry {
  /** Begins the spans of calls, and describes their metrics. Undefined when nothing is sent. */
  readonly tracer: CallTracer | undefined
  readonly observers: readonly CallObserver[]
  /** Sends the remaining data, for half a second at most, because workers and their owner close one after the other. */
  close(): Promise<void>
}

type TelemetryParts = Pick<Core, 'env' | 'logger' | 'metrics' | 'node' | 'siblings'>

const closeMaxMs = 500

/**
 * The version of the conventions that names and attributes follow: the last one with those for generative AI, which have had a repository of their own
 * since, without a stable version.
 */
const schemaUrl = 'https://opentelemetry.io/schemas/1.41.0'
const scope = { name: 'sluice', version, schemaUrl } as const

export function openTelemetry(core: TelemetryParts): Telemetry {
  const { env, logger } = core
  if (!['', 'http/protobuf'].includes(env.OTEL_EXPORTER_OTLP_PROTOCOL))
    logger.warn({ asked: env.OTEL_EXPORTER_OTLP_PROTOCOL }, 'traces and metrics are sent by OTLP over http/protobuf alone')
  // Only while the settings are read: later it would report every batch that fails.
  diag.setLogger(settingsLogger(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const resource = resourceOf(core)
  const log = new CollectorLog(logger)
  const tracing = env.OTEL_TRACES_EXPORTER === 'none' ? undefined : tracerProvider(env, resource, log)
  const metering = env.OTEL_METRICS_EXPORTER === 'none' ? undefined : meterProvider(core, resource, log)
  diag.disable()
  const spans = tracing || metering ? new CallSpans(tracing?.getTracer(scope.name, version, scope)) : undefined
  const metrics = metering && new GenAiMetrics(metering.getMeter(scope.name, version, scope))
  return {
    tracer: spans,
    observers: [spans, metrics].filter((observer) => observer !== undefined),
    async close() {
      const closing = Promise.allSettled([tracing?.shutdown(), metering?.shutdown()])
      await withActiveTimeout(closeMaxMs, closing, () => logger.warn('the last traces and metrics were not sent in time'))
    },
  }
}

/** Logs the warnings of the SDK about invalid settings. */
function settingsLogger(logger: TelemetryParts['logger']): DiagLogger {
  const warn = (message: string) => logger.warn(`OpenTelemetry: ${message}`)
  const ignore = () => {}
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore }
}

/** The source of the telemetry. Values of the environment take precedence. */
function resourceOf({ node, siblings }: Pick<TelemetryParts, 'node' | 'siblings'>): Resource {
  const attributes = {
    'service.name': 'sluice',
    'service.version': version,
    'service.instance.id': node,
    'host.name': hostname(),
    'process.pid': process.pid,
    'sluice.process.role': siblings ? (siblings.isOwner ? 'owner' : 'worker') : 'single',
  }
  return defaultResource()
    .merge(resourceFromAttributes(attributes, { schemaUrl }))
    .merge(detectResources({ detectors: [envDetector] }))
}

function tracerProvider(env: Env, resource: Resource, log: CollectorLog): BasicTracerProvider {
  const exporter = new TraceExporter(log, headersFrom(env.OTEL_EXPORTER_OTLP_HEADERS, env.OTEL_EXPORTER_OTLP_TRACES_HEADERS))
  return new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] })
}

function meterProvider({ env, metrics }: Pick<TelemetryParts, 'env' | 'metrics'>, resource: Resource, log: CollectorLog) {
  const exporter = new MetricExporter(log, headersFrom(env.OTEL_EXPORTER_OTLP_HEADERS, env.OTEL_EXPORTER_OTLP_METRICS_HEADERS))
  const intervalMs = env.OTEL_METRIC_EXPORT_INTERVAL
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(intervalMs, env.OTEL_METRIC_EXPORT_TIMEOUT),
    metricProducers: [new RegistryProducer(metrics.registry, resource, scope)],
  })
  return new MeterProvider({ resource, readers: [reader] })
}

/**
 * Headers that authorize at the collector. They were removed from the environment of the process, where the SDK would read them.
 */
function headersFrom(common: string, ofSignal: string): Record<string, string> {
  return { ...parseKeyPairsIntoRecord(common), ...parseKeyPairsIntoRecord(ofSignal) }
}

/** Logs once that the collector does not answer, and once that it answers again. */
class CollectorLog {
  readonly #logger: TelemetryParts['logger']
  #hasFailed = false

  constructor(logger: TelemetryParts['logger']) {
    this.#logger = logger
  }

  note({ code, error }: ExportResult): void {
    const isFailure = code !== ExportResultCode.SUCCESS
    if (isFailure === this.#hasFailed) return
    this.#hasFailed = isFailure
    if (isFailure) this.#logger.warn({ reason: error?.message }, 'the collector of traces and metrics does not take them')
    else this.#logger.info('the collector of traces and metrics takes them again')
  }
}

class TraceExporter extends OTLPTraceExporter {
  readonly #log: CollectorLog

  constructor(log: CollectorLog, headers: Record<string, string>) {
    super({ headers })
    this.#log = log
  }

  override export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    super.export(spans, (result) => {
      this.#log.note(result)
      done(result)
    })
  }
}

class MetricExporter extends OTLPMetricExporter {
  readonly #log: CollectorLog

  constructor(log: CollectorLog, headers: Record<string, string>) {
    super({ headers })
    this.#log = log
  }

  override export(metrics: ResourceMetrics, done: (result: ExportResult) => void): void {
    super.export(metrics, (result) => {
      this.#log.note(result)
      done(result)
    })
  }
}
