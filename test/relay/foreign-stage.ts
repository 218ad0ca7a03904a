import type { DatabaseKind } from '../helpers/databases.ts'
import { setOptions } from '../helpers/seed.ts'
import { chatReply, geminiReply, messagesReply, type VendorSays } from '../helpers/vendor-replies.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, stage } from './stage.ts'

/** A request as the upstream received it, with the names of its tools there. */
export interface Asked {
  readonly body: Record<string, unknown>
  readonly tools: readonly string[]
  readonly isStream: boolean
}

type Answer = Pick<VendorSays, 'calls'> | { readonly text: string }

interface Vendor {
  readonly channel: Record<string, unknown>
  readonly path: string
  readonly model: string
  toolsOf(body: Record<string, unknown>): string[]
  write(says: VendorSays, isStream: boolean): string
}

type List = readonly Record<string, unknown>[]

const listAt = (value: unknown): List => (Array.isArray(value) ? value : [])

const anthropic: Vendor = {
  channel: { type: 14 },
  path: '',
  model: 'claude-sonnet-4-5',
  toolsOf: ({ tools }) => listAt(tools).map(({ name }) => String(name)),
  write: messagesReply,
}

const gemini: Vendor = {
  channel: { type: 24 },
  path: '',
  model: 'gemini-2.5-pro',
  toolsOf: ({ tools }) => listAt(tools).flatMap((group) => listAt(group.functionDeclarations).map(({ name }) => String(name))),
  write: geminiReply,
}

const chat: Vendor = {
  channel: { type: 8 },
  path: '/v1/chat/completions',
  model: 'gpt-4.1',
  toolsOf: ({ tools }) => listAt(tools).map((tool) => String((tool.function as { name?: unknown } | undefined)?.name)),
  write: chatReply,
}

/** Upstreams that do not speak Responses. */
const foreign = { Anthropic: anthropic, Gemini: gemini, 'Chat alone': chat } as const

export type Foreign = keyof typeof foreign

export const foreignNames = Object.keys(foreign) as Foreign[]

type Answers = (asked: Asked, turn: number) => Answer

/** A server with one channel to an upstream of a kind, which answers with `answers` and records its requests. */
export async function foreignStage(kind: DatabaseKind, name: Foreign, answers: Answers, channel: Record<string, unknown> = {}) {
  const { url, ...upstream } = await openUpstream(name, answers)
  const staged = await stage(kind, url, { channel: { ...upstream.channel, ...channel } })
  await setOptions(staged.server, { ModelRatio: ratios })
  return { ...staged, ...upstream }
}

/** The same on one shared server, for tests that set no options. */
export function foreignStages(kind: DatabaseKind) {
  const sharedStage = sharedStages(kind, { ModelRatio: ratios })
  return async (name: Foreign, answers: Answers) => {
    const { url, ...upstream } = await openUpstream(name, answers)
    return { ...(await sharedStage(url, upstream.channel)), ...upstream }
  }
}

const ratios = Object.fromEntries(Object.values(foreign).map(({ model }) => [model, 1]))

async function openUpstream(name: Foreign, answers: Answers) {
  const vendor = foreign[name]
  const asked: Asked[] = []
  const { url } = await answeringUpstream(({ body, path }) => {
    const isStream = body.stream === true || path.includes(':streamGenerateContent')
    const one = { body, tools: vendor.toolsOf(body), isStream }
    asked.push(one)
    return vendor.write({ model: vendor.model, usage: [30, 9], ...answers(one, asked.length) }, isStream)
  })
  return { url: url + vendor.path, asked, model: vendor.model, channel: { models: vendor.model, ...vendor.channel } }
}
