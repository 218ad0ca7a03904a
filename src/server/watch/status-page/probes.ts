import { linesOf } from '../../../contract/options/lists.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { RunningChannel } from '../../gateway/channels/index/model-index.ts'
import { type ProbeRequest, probeRequest } from '../../gateway/relay/models/probe.ts'
import { callForSite, type SiteCallParts } from '../../gateway/relay/models/site-call.ts'
import type { CallStatistics } from '../../usage/calls/call-statistics.ts'
import { fiveMinutes, offerKey, readOutcomes } from '../../usage/calls/call-sums.ts'
import { listOffers, type Offer, type OfferParts } from './offers.ts'

/** The parts that probe models. */
type ProbeParts = OfferParts & SiteCallParts & { readonly callStatistics: CallStatistics }

/** One call whose result counts for every group for which the same channels serve the model. */
interface Probe {
  readonly model: string
  readonly groups: readonly string[]
  /** Undefined when no channel is enabled: then callers are refused. */
  readonly request: ProbeRequest | undefined
}

const atOnce = 4
/** Limit of one run: with more models, each run probes a random part of them. */
const probesMax = 200

/**
 * Sends one small request to each model, as a caller of its groups would: those that the options name, or all without traffic since
 * the last run. Models that do not generate text are left out. Returns the number of probes by outcome; throws when aborted.
 */
export async function probeModels(app: ProbeParts, signal: AbortSignal, tell: (detail: string) => void): Promise<string> {
  const waiting = shuffled(await plan(app)).slice(0, probesMax)
  const counts: Record<string, number> = { answered: 0, failed: 0, unaffordable: 0 }
  const tally = () => JSON.stringify(counts)
  const work = async () => {
    for (let probe = waiting.shift(); probe; probe = waiting.shift()) {
      const outcome = await probeOnce(app, probe, signal)
      counts[outcome] = (counts[outcome] ?? 0) + 1
      tell(tally())
      signal.throwIfAborted()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  await app.callStatistics.flush()
  return tally()
}

async function probeOnce(app: ProbeParts, { model, groups, request }: Probe, signal: AbortSignal): Promise<string> {
  const note = (isAnswered: boolean) => {
    for (const group of groups) app.callStatistics.probeEnded(group, model, isAnswered)
  }
  const [group = ''] = groups
  if (!request) {
    note(false)
    return 'failed'
  }
  const allowance = { reason: 'status_probe', unitsPerDay: app.options.current.StatusProbeUnitsPerDay } as const
  const answer = await callForSite(app, { group, ...request, allowance }, signal)
  if (answer.outcome === 'unaffordable') return answer.outcome
  if (answer.outcome === 'failed' && !answer.isFault) return 'refused'
  note(answer.outcome === 'answered')
  return answer.outcome
}

async function plan(app: ProbeParts): Promise<Probe[]> {
  const named = new Set(linesOf(app.options.current.StatusProbeModels))
  const busy = named.size > 0 ? new Set<string>() : await keysWithTraffic(app)
  const probes = new Map<string, Probe>()
  for (const offer of await listOffers(app)) {
    const { group, model, channels } = offer
    if (named.size > 0 ? !named.has(model) : busy.has(offerKey(group, model))) continue
    const request = requestFor(offer)
    if (channels.length > 0 && !request) continue
    const key = `${channels.map(({ id }) => id).join()} ${model}`
    probes.set(key, { model, request, groups: [...(probes.get(key)?.groups ?? []), group] })
  }
  return [...probes.values()]
}

/** Keys of models in groups that were called since about the last run. */
async function keysWithTraffic({ db, now, options }: ProbeParts): Promise<Set<string>> {
  const to = seconds(now()) + 1
  const since = to - Math.max(fiveMinutes, options.current.StatusProbeMinutes * 60)
  const from = since - (since % fiveMinutes)
  const rows = await readOutcomes(db, { sides: ['offer'], seconds: fiveMinutes, from, to })
  return new Set(rows.filter(({ answered, failed }) => answered + failed > 0).map(({ key }) => key))
}

function requestFor({ channels, model }: Offer): ProbeRequest | undefined {
  const asked = (channel: RunningChannel) => (channel.provider.testable ? probeRequest(channel, model, 'never') : undefined)
  return channels.map(asked).find((request) => request !== undefined)
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}
