import type { Quirks } from './codec.ts'
import { outputTokensMin as ernieMin } from './ernie-chat/models.ts'
import type { Format } from './format.ts'
import { outputLimitMember } from './openai-chat/models.ts'
import { outputTokensMin as responsesMin } from './openai-responses/models.ts'
import { inputNamesOf } from './replicate-predict/models.ts'
import { countAt, isObject, type JsonObject, objectAt } from './wire-format.ts'

/** The upstream that a body is written for. */
export interface LimitedModel {
  /** As the upstream names it. */
  readonly model: string
  readonly quirks: Quirks
}

/**
 * The members that limit the output of one answer to at most `tokens`, in a body of an upstream's format, native or translated:
 * top-level members to set. A lower limit already in the body is kept, and `{}` means that no change is needed. The limit is never
 * written below `leastOutputLimit`, which the vendor would refuse, and is not compared with the model's maximum. Call it last, on the
 * final body: adjustments of the provider and overrides of the channel may write a limit too. Undefined for formats without a limit.
 */
export function writeOutputLimit(
  format: Format,
  body: JsonObject,
  { tokens, ...of }: LimitedModel & { readonly tokens: number },
): JsonObject | undefined {
  const rule = ruleOf(format)
  if (!rule) return undefined
  const limit = Math.max(tokens, rule.least(body, of))
  const places = rule.places(body, of)
  const declared = places.filter((place) => isLimit(rule, valueAt(body, place)))
  const tooHigh = declared.filter((place) => Number(valueAt(body, place)) > limit)
  const written = declared.length > 0 ? tooHigh : places.slice(0, 1)
  const changed = written.reduce((result, place) => withValue(result, place, limit), body)
  return Object.fromEntries(Object.entries(changed).filter(([member, value]) => value !== body[member]))
}

/**
 * The limit in tokens of one answer in a body of an upstream's format; the greatest of several, because hosts differ on which one
 * counts. Undefined when it has none.
 */
export function readOutputLimit(format: Format, body: JsonObject, of: LimitedModel): number | undefined {
  const rule = ruleOf(format)
  const stated = rule?.places(body, of).flatMap((place) => {
    const value = valueAt(body, place)
    return isLimit(rule, value) ? value : []
  })
  return stated && stated.length > 0 ? Math.max(...stated) : undefined
}

/**
 * The output limit of one answer that a changed body has above that of the body before it, and the member that a caller sees it in.
 * Undefined when the body before has none, or one that is as high.
 */
export function raisedLimit(
  format: Format,
  { before, after }: { readonly before: JsonObject; readonly after: JsonObject },
  of: LimitedModel,
): { readonly tokens: number; readonly member: string } | undefined {
  const asked = readOutputLimit(format, before, of)
  const tokens = asked === undefined ? undefined : readOutputLimit(format, after, of)
  if (asked === undefined || tokens === undefined || tokens <= asked) return undefined
  const place = ruleOf(format)
    ?.places(before, of)
    .find((each) => valueAt(before, each) === asked)
  return { tokens, member: place?.at(-1) ?? '' }
}

/** The lowest limit in tokens that the vendor accepts for this body: it has to be above a thinking budget. */
export function leastOutputLimit(format: Format, body: JsonObject, of: LimitedModel): number {
  return ruleOf(format)?.least(body, of) ?? 1
}

type Place = readonly [string, ...string[]]

interface LimitRule {
  /** The members that may contain a limit. All present ones are lowered; if none is present, the first is written. */
  places(body: JsonObject, of: LimitedModel): readonly Place[]
  least(body: JsonObject, of: LimitedModel): number
  /** A limit of 0 requests no output; in all other formats it means no limit. */
  readonly takesZero?: true
}

const at = (...place: Place): Pick<LimitRule, 'places'> => ({ places: () => [place] })
const atLeast = (tokens: number): Pick<LimitRule, 'least'> => ({ least: () => tokens })
const aboveBudget = (thinking: JsonObject | undefined): number => countAt(thinking, 'budget_tokens') + 1

const rules: Readonly<Partial<Record<Format, LimitRule>>> = {
  'openai.chat': {
    places(_body, { model, quirks }) {
      const member = outputLimitMember(model, quirks)
      return [[member], [member === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens']]
    },
    // The members in which hosts of Claude accept a thinking budget on Chat.
    least: (body) => Math.max(aboveBudget(objectAt(body, 'thinking')), countAt(objectAt(body, 'reasoning'), 'max_tokens') + 1),
  },
  'openai.completions': { ...at('max_tokens'), ...atLeast(1) },
  'openai.responses': { ...at('max_output_tokens'), ...atLeast(responsesMin) },
  'anthropic.messages': { ...at('max_tokens'), least: (body) => aboveBudget(objectAt(body, 'thinking')), takesZero: true },
  'gemini.generate': { places: geminiPlaces, ...atLeast(1) },
  'bedrock.converse': {
    ...at('inferenceConfig', 'maxTokens'),
    least: (body) => aboveBudget(objectAt(objectAt(body, 'additionalModelRequestFields') ?? {}, 'thinking')),
  },
  'cohere.chat': { ...at('max_tokens'), ...atLeast(1) },
  'dashscope.chat': { ...at('parameters', 'max_tokens'), ...atLeast(1) },
  'ernie.chat': { ...at('max_output_tokens'), ...atLeast(ernieMin) },
  'ollama.chat': { ...at('options', 'num_predict'), ...atLeast(1) },
  'replicate.predict': {
    places: (_body, { model }) => [['input', inputNamesOf(model).outputLimit]],
    least: (_body, { model }) => inputNamesOf(model).outputLimitMin,
  },
  'spark.chat': { ...at('parameter', 'chat', 'max_tokens'), ...atLeast(1) },
}

function ruleOf(format: Format): LimitRule | undefined {
  return rules[format]
}

/**
 * Each config object and its limit in the spelling that the body uses, camel case or snake case; an absent limit is spelled like
 * its object.
 */
function geminiPlaces(body: JsonObject): readonly Place[] {
  const configs = (['generationConfig', 'generation_config'] as const).filter((name) => isObject(body[name]))
  if (configs.length === 0) return [['generationConfig', 'maxOutputTokens']]
  return configs.flatMap((name): Place[] => {
    const config = objectAt(body, name) ?? {}
    const spelled = (['maxOutputTokens', 'max_output_tokens'] as const).filter((member) => config[member] != null)
    const usual = name === 'generationConfig' ? 'maxOutputTokens' : 'max_output_tokens'
    return (spelled.length > 0 ? spelled : [usual]).map((member): Place => [name, member])
  })
}

function valueAt(body: JsonObject, place: Place): unknown {
  return place.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), body)
}

function isLimit({ takesZero }: LimitRule, value: unknown): value is number {
  return typeof value === 'number' && (value > 0 || (takesZero === true && value === 0))
}

/** A copy with this value at this path; the other members keep their order. */
function withValue(object: JsonObject, [key, ...rest]: Place, value: number): JsonObject {
  const [next, ...more] = rest
  if (next === undefined) return { ...object, [key]: value }
  return { ...object, [key]: withValue(objectAt(object, key) ?? {}, [next, ...more], value) }
}
