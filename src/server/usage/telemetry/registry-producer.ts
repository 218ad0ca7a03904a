import { type HrTime, ValueType } from '@opentelemetry/api'
import { type InstrumentationScope, millisToHrTime } from '@opentelemetry/core'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { Measured, Metrics } from '../../base/lib/process/metrics.ts'

type Metric = Measured[number]
type Labels = Record<string, string | number>

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

/** The metrics of `/metrics` as the SDK exports them: declared once, and read from the same registry whenever they are sent. */
export class RegistryProducer implements MetricProducer {
  readonly #registry: Metrics['registry']
  readonly #resource: Resource
  readonly #scope: InstrumentationScope
  readonly #startTime = millisToHrTime(Math.round(performance.timeOrigin))

  constructor(registry: Metrics['registry'], resource: Resource, scope: InstrumentationScope) {
    this.#registry = registry
    this.#resource = resource
    this.#scope = scope
  }

  async collect(): Promise<CollectionResult> {
    const measured: Measured = await this.#registry.getMetricsAsJSON()
    const times = { startTime: this.#startTime, endTime: millisToHrTime(Date.now()) }
    const metrics = measured.map((metric) => dataOf(metric, times))
    return {
      resourceMetrics: { resource: this.#resource, scopeMetrics: [{ scope: this.#scope, metrics }] },
      errors: [],
    }
  }
}

function dataOf(metric: Metric, times: Times): MetricData {
  const descriptor = { name: metric.name, description: metric.help, unit: '', valueType: ValueType.DOUBLE }
  const aggregationTemporality = AggregationTemporality.CUMULATIVE
  // In the types of the library it is a number; in fact it is the name.
  const type = String(metric.type)
  if (type === 'histogram')
    return {
      descriptor,
      aggregationTemporality,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: histogramsOf(metric, times),
    }
  const dataPoints = metric.values.map(({ labels, value }) => ({ ...times, attributes: definedOf(labels), value }))
  if (type === 'counter')
    return { descriptor, aggregationTemporality, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
  return { descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints }
}

function definedOf(labels: Partial<Labels>): Labels {
  return Object.fromEntries(Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/**
 * In the registry each bucket has a value that includes all lower buckets; in OTLP a series is one point with the counts between
 * bounds.
 */
function histogramsOf({ values }: Metric, times: Times): DataPoint<Histogram>[] {
  const points = new Map<string, { attributes: Labels; bounds: number[]; upTo: number[]; sum: number; count: number }>()
  // The values of a histogram have `metricName`, which the type omits.
  for (const { labels, value, metricName } of values as (Metric['values'][number] & { metricName: string })[]) {
    const { le, ...attributes } = definedOf(labels)
    const key = JSON.stringify(attributes)
    const point = points.get(key) ?? { attributes, bounds: [], upTo: [], sum: 0, count: 0 }
    points.set(key, point)
    if (metricName.endsWith('_sum')) point.sum = value
    else if (metricName.endsWith('_count')) point.count = value
    else if (le !== '+Inf') {
      point.bounds.push(Number(le))
      point.upTo.push(value)
    }
  }
  return [...points.values()].map(({ attributes, bounds, upTo, sum, count }) => ({
    ...times,
    attributes,
    value: {
      buckets: { boundaries: bounds, counts: [...upTo, count].map((until, at) => until - (upTo[at - 1] ?? 0)) },
      sum,
      count,
    },
  }))
}
