import { type ModelRule, modelRules } from '../../../contract/entities/channel.ts'
import { rememberByName } from '../../base/lib/collections/remember-by-name.ts'
import type { FamilyName, Quirks } from './codec.ts'

/**
 * What a family of models requires wherever it is served: at its vendor, at another one, or on a server of the operator. Hosts pass
 * these requirements on, because they come from the model's chat template or from its vendor behind the host. Rules that belong to a
 * host are quirks of its provider. A channel may switch each rule off, or on for all of its models. Sources: the vendors' interface
 * references and error messages, protocols notes 2.2, 2.5, 2.7 and 3.7; read 2026-11.
 */
interface Family {
  readonly name: FamilyName
  /** A pattern of the name in lower case, without the vendors and folders before it. */
  readonly model: RegExp
  readonly rules: Readonly<Partial<Record<ModelRule, Quirks>>>
}

/** The vendor's placeholder for an unknown signature. Source: protocols notes 3.7. */
export const unknownSignature = 'skip_thought_signature_validator'

/** The form of each rule for models whose family is unknown. */
const rules = {
  replay_reasoning: { replayReasoning: 'tool-turns', emptyReasoning: ' ' },
  think_in_streams_only: { thinksOnlyInStreams: true, thinkingSwitch: 'enable_thinking' },
  call_signatures: { lostSignature: unknownSignature },
  short_call_ids: { callIds: 'nine-alphanumerics' },
} as const satisfies Record<ModelRule, Quirks>

const { replay_reasoning, think_in_streams_only, call_signatures, short_call_ids } = rules

/** The first family that matches applies. */
export const families: readonly Family[] = [
  // Returns 400 when its reasoning is sent back.
  { name: 'deepseek-r1', model: /deepseek[-_]?r1(?!\d)/, rules: { replay_reasoning: { replayReasoning: 'never' } } },
  // In requests with tools, every turn of the model must have its reasoning, or an empty one if it is lost.
  {
    name: 'deepseek',
    model: /deepseek[-_](chat|reasoner|flash|pro|v3[.-][2-9]|v[4-9])/,
    rules: { replay_reasoning: { replayReasoning: 'always', emptyReasoning: '' } },
  },
  // Turns with calls must have their reasoning, which must not be empty.
  { name: 'kimi', model: /kimi-(k2([.-][5-9]|-thinking)|k[3-9]|thinking|for-coding|latest)/, rules: { replay_reasoning } },
  // The open models of the first generation; later ones have separate names for thinking.
  { name: 'qwen3', model: /^(qwen\.)?qwen3[-:]\d(?!.*(thinking|instruct))/, rules: { think_in_streams_only } },
  {
    name: 'mistral',
    model: /(^|[.@-])(mi[sx]tral|ministral|magistral|codestral|devstral|pixtral|voxtral)/,
    rules: { short_call_ids },
  },
  // The first call of a turn must have the signature of the thought before it.
  { name: 'gemini-3', model: /(^|[.@-])gemini-([3-9]|\d\d)/, rules: { call_signatures } },
]

const other: Family = { name: 'other', model: /./, rules: {} }

const familyOf = rememberByName((model): Family => {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return families.find((family) => family.model.test(name)) ?? other
})

/** The channel as the rules depend on it. */
interface Serving {
  readonly model: string
  /** The base URL of the channel. */
  readonly address: string
  /** `model_rules` of its settings. */
  readonly switches: Readonly<Partial<Record<ModelRule, boolean>>> | undefined
}

/** The quirks of a host together with those of the model that it serves. */
export function quirksWithFamily(host: Quirks, { model, address, switches = {} }: Serving): Quirks {
  const known = familyOf(model)
  const family = known === other ? (families.find(({ name }) => name === host.family) ?? other) : known
  const own = modelRules.flatMap((rule): Quirks[] => {
    const isOn = switches[rule]
    if (isOn === false || (isOn === undefined && !suits(rule, host, address))) return []
    const quirks = family.rules[rule] ?? (isOn ? rules[rule] : undefined)
    return quirks ? [quirks] : []
  })
  if (own.length === 0) return host
  const merged: Quirks = Object.assign({}, host, ...own)
  const { thinkingSwitch, replayReasoning } = host
  return {
    ...merged,
    ...(thinkingSwitch === undefined ? {} : { thinkingSwitch }),
    // The host wants more of it than the model.
    ...(replayReasoning === 'always' && merged.replayReasoning === 'tool-turns' ? { replayReasoning } : {}),
  }
}

/**
 * Whether a host has the member by which a rule is met. The one that turns thinking off is missing at hosts with another one, and at
 * those that refuse unknown members; signatures of hosts with `reasoning_details` are there.
 */
function suits(rule: ModelRule, { thinkingSwitch }: Quirks, address: string): boolean {
  if (rule === 'call_signatures') return thinkingSwitch !== 'reasoning-object'
  if (rule !== 'think_in_streams_only') return true
  return (thinkingSwitch ?? 'enable_thinking') === 'enable_thinking' && !refusesUnknown.test(address)
}

const refusesUnknown = /^https?:\/\/([\w-]+\.)*(groq\.com|cerebras\.ai|fireworks\.ai|nvidia\.com|cloudflare\.com)(?=[:/]|$)/i
