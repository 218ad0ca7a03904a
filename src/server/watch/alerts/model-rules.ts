import { startOfDay } from '../../../contract/model-ends.ts'
import type { Text } from '../../../contract/text.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { type OtherAnswers, readOtherAnswers } from '../../gateway/channels/health/answered-models.ts'
import { isPattern } from '../../gateway/channels/row/match-name.ts'
import { endAt } from '../../gateway/channels/row/model-ends.ts'
import { hourSeconds } from '../../usage/sums/hours.ts'
import type { App } from '../parts.ts'
import type { Measured, PastMeasured } from './measures.ts'
import type { Asked } from './rule-source.ts'

const dayMs = 86_400_000
/** The calls that concern a model's end. */
const concernedSeconds = 30 * 86_400
const namedMax = 3
const modelsAtOnce = 200

interface Ending {
  readonly model: string
  readonly date: string
  readonly successor: string | undefined
  /** `name (#id)`. */
  readonly channels: readonly string[]
}

/** The days until each model ends at the first of its channels, for models with calls in the last 30 days. */
export async function measureEnds(app: App): Promise<Measured[]> {
  const endings = endingsOf(app)
  const concerned = await readConcerned(app, [...endings.keys()])
  return [...concerned].flatMap(([model, use]) => {
    const ending = endings.get(model)
    if (!ending) return []
    const value = Math.max(0, (startOfDay(ending.date) - app.now()) / dayMs)
    return [{ subject: `model:${model}`, name: `${model}: ${someOf(ending.channels)}`, value, note: noteOfEnd(app, ending, use) }]
  })
}

/** The ends of today: what was known on a past day is not stored. */
export async function pastEnds(app: App, { from, to }: { from: number; to: number }): Promise<PastMeasured[]> {
  return (await measureEnds(app)).map((one) => ({ ...one, from, to }))
}

function endingsOf({ channels }: Pick<App, 'channels'>): Map<string, Ending> {
  const endings = new Map<string, Ending>()
  for (const channel of channels.current.byId.values()) {
    for (const model of channel.models) {
      const end = isPattern(model) ? undefined : endAt(channel, model)
      if (!end) continue
      const known = endings.get(model)
      const { date, successor } = known && known.date <= end.date ? known : end
      endings.set(model, { model, date, successor, channels: [...(known?.channels ?? []), `${channel.name} (#${channel.id})`] })
    }
  }
  return endings
}

interface Use {
  readonly calls: number
  readonly quota: number
  readonly users: number
}

/** The use of models in the last 30 days; models without a call are absent. */
async function readConcerned({ db, now }: App, models: readonly string[]): Promise<Map<string, Use>> {
  const found = new Map<string, Use>()
  for (let at = 0; at < models.length; at += modelsAtOnce) {
    const rows = await db
      .selectFrom('quota_data')
      .select((row) => [
        'model_name',
        row.fn.sum<number>('count').as('calls'),
        row.fn.sum<number>('quota').as('quota'),
        row.fn.count<number>('user_id').distinct().as('users'),
      ])
      .where('model_name', 'in', models.slice(at, at + modelsAtOnce))
      .where('created_at', '>=', seconds(now()) - concernedSeconds)
      .groupBy('model_name')
      .orderBy('model_name')
      .execute()
    for (const { model_name: model, calls, quota, users } of rows)
      found.set(model, { calls: Number(calls), quota: Number(quota), users: Number(users) })
  }
  return found
}

function noteOfEnd(app: App, { model, date, successor }: Ending, { calls, quota, users }: Use): Text {
  const spent = usdOf(app, quota)
  const { ModelReplacements: set } = app.options.current
  const replacement = Object.hasOwn(set, model) ? set[model] : undefined
  const advice = replacement
    ? { zh: `此后由 ${replacement} 处理`, en: `After that ${replacement} answers` }
    : successor && { zh: `供应商建议改用 ${successor}`, en: `The vendor recommends ${successor}` }
  return {
    zh: `${date} 停用；最近 30 天 ${calls} 次调用，${users} 位用户，消费 ${spent}${advice ? `。${advice.zh}` : ''}`,
    en: `The day is ${date}; ${plural(calls, 'call')} of ${plural(users, 'user')} for ${spent} in the last 30 days${advice ? `. ${advice.en}` : ''}`,
  }
}

/** The calls of the window that another model has answered, by channel and both names. */
export async function measureOtherModels(app: App, { params }: Asked): Promise<Measured[]> {
  const to = seconds(app.now())
  return measuredOthers(app, { from: to - (params.window ?? 0) * 60, to: to + 1 })
}

export async function pastOtherModels(app: App, { from, to }: Asked & { from: number; to: number }): Promise<PastMeasured[]> {
  const hours: PastMeasured[] = []
  for (let hour = from - (from % hourSeconds); hour < to; hour += hourSeconds) {
    const measured = await measuredOthers(app, { from: hour, to: hour + hourSeconds })
    hours.push(...measured.map((one) => ({ ...one, from: hour, to: hour + hourSeconds })))
  }
  return hours
}

async function measuredOthers(app: App, span: { from: number; to: number }): Promise<Measured[]> {
  const answers = await readOtherAnswers(app.db, span)
  const names = new Map((await app.db.selectFrom('channels').select(['id', 'name']).execute()).map(({ id, name }) => [id, name]))
  return answers.flatMap((one) => {
    const name = names.get(one.channelId)
    if (name === undefined) return []
    const { channelId, sent, answered, calls } = one
    return [
      {
        subject: `channel:${channelId}/${sent}/${answered}`,
        name: `${name} (#${channelId}): ${sent} → ${answered}`,
        value: calls,
        note: noteOfOthers(app, one),
      },
    ]
  })
}

function noteOfOthers(app: App, { calls, charged, priced, difference }: OtherAnswers): Text {
  const spent = usdOf(app, charged)
  if (priced === 0)
    return { zh: `已计费 ${spent}；回答的模型没有价格`, en: `Charged ${spent}; the model that answers has no price` }
  const amount = usdOf(app, Math.abs(difference))
  const some = priced < calls
  return {
    zh: `已计费 ${spent}；按回答的模型计价会${difference < 0 ? '少' : '多'} ${amount}${some ? `（${priced} 次调用）` : ''}`,
    en: `Charged ${spent}; at the price of the model that answers it is ${amount} ${difference < 0 ? 'less' : 'more'}${some ? ` (${plural(priced, 'call')})` : ''}`,
  }
}

function usdOf({ options }: App, units: number): string {
  const usd = units / options.current.QuotaPerUnit
  return `$${usd >= 0.01 || usd === 0 ? usd.toFixed(2) : usd.toPrecision(2)}`
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

function someOf(names: readonly string[]): string {
  const more = names.length - namedMax
  return names.slice(0, namedMax).join(', ') + (more > 0 ? ` +${more}` : '')
}
