import { bodyRule } from '../../../../../contract/entities/channel-overrides.ts'
import { explain } from '../../../../../contract/issues.ts'
import type { Text } from '../../../../../contract/text.ts'
import { isJson, isJsonObject, parseJson } from '../../../../lib/json.ts'
import { namesOf } from '../form-values.ts'

/** Rules for the body of a request, as rows to fill in and as the channel stores them. */

export const ruleActions = ['set', 'default', 'remove', 'rename'] as const
type RuleAction = (typeof ruleActions)[number]

export interface RuleDraft {
  readonly action: RuleAction
  readonly path: string
  /** The value, or the new path of a renamed member. */
  readonly to: string
  readonly when: ConditionDraft | undefined
}

export const conditionTests = ['exists', 'absent', 'equals'] as const

export interface ConditionDraft {
  /** Patterns, separated by commas. */
  readonly models: string
  readonly path: string
  readonly test: (typeof conditionTests)[number]
  readonly value: string
}

export const newRule: RuleDraft = { action: 'set', path: '', to: '', when: undefined }
export const newCondition: ConditionDraft = { models: '', path: '', test: 'exists', value: '' }

/** The rules of a JSON text; undefined if rows cannot represent them. */
export function readRules(text: string): readonly RuleDraft[] | undefined {
  if (text.trim() === '') return []
  const rules = parseJson(text)
  if (Array.isArray(rules)) {
    const drafts = rules.map(draftOf)
    return drafts.every((draft) => draft !== undefined) ? drafts : undefined
  }
  if (!isJsonObject(rules)) return undefined
  return Object.entries(rules).map(([name, value]) => ({ ...newRule, path: pathOf(name), to: writeValue(value) }))
}

/** An empty row is ignored. An incomplete value is left out, so that the schema of a rule refuses it. */
export function writeRules(drafts: readonly RuleDraft[]): string {
  const filled = drafts.filter(({ path, to, when }) => path !== '' || to !== '' || when)
  return filled.length === 0 ? '' : JSON.stringify(filled.map(ruleOf))
}

type RuleField = 'path' | 'to' | 'models' | 'whenPath' | 'value'

/** The contract's errors for each field of a rule. */
export function faultsOfRule(draft: RuleDraft): Partial<Record<RuleField, Text>> {
  const schema = bodyRule.options.find(({ shape }) => draft.action in shape)
  const { error } = schema?.safeParse(ruleOf(draft)) ?? {}
  const faults = (error?.issues ?? []).map((issue) => {
    const [top, member] = issue.path
    const field = top === draft.action ? 'path' : top === 'to' ? 'to' : member === 'model' ? 'models' : 'whenPath'
    return [field, explain({ issues: [{ ...issue, path: [] }] })] as const
  })
  const isHalfTyped = draft.when?.test === 'equals' && readValue(draft.when.value) === undefined
  return { ...Object.fromEntries(faults.toReversed()), ...(isHalfTyped ? { value: halfTyped } : {}) }
}

/** JSON is parsed; plain text is taken without quotes. Undefined for an empty or incomplete value. */
export function readValue(text: string): unknown {
  if (isJson(text)) return parseJson(text)
  return text.trim() === '' || /^\s*["[{]/.test(text) ? undefined : text
}

function writeValue(value: unknown): string {
  return typeof value === 'string' && readValue(value) === value ? value : JSON.stringify(value)
}

const halfTyped: Text = { zh: '不是合法的 JSON 字符串', en: 'Not a valid JSON string' }

function ruleOf({ action, path, to, when }: RuleDraft): Record<string, unknown> {
  const value = action === 'rename' ? { to } : action === 'remove' ? {} : { to: readValue(to) }
  return { [action]: path, ...value, ...(when ? { when: conditionOf(when) } : {}) }
}

/** Undefined without a condition. An incomplete value is written under a name that the schema refuses. */
function conditionOf({ models, path, test, value }: ConditionDraft): Record<string, unknown> | undefined {
  const patterns = namesOf(models)
  const wanted = readValue(value)
  const tested =
    test === 'absent' ? { exists: false } : test === 'exists' ? {} : wanted === undefined ? { half: value } : { equals: wanted }
  const condition = {
    ...(patterns.length > 0 ? { model: patterns.length === 1 ? patterns[0] : patterns } : {}),
    ...(path.trim() === '' ? {} : { path, ...tested }),
  }
  return Object.keys(condition).length === 0 ? undefined : condition
}

function draftOf(rule: unknown): RuleDraft | undefined {
  if (!isJsonObject(rule)) return undefined
  const action = ruleActions.find((name) => name in rule)
  if (!action) return undefined
  const { [action]: path, to, when, ...others } = rule
  const condition = when === undefined ? undefined : conditionDraftOf(when)
  if (typeof path !== 'string' || Object.keys(others).length > 0 || (when !== undefined && !condition)) return undefined
  if (action === 'rename' && typeof to !== 'string') return undefined
  const text = action === 'rename' ? String(to) : to === undefined ? '' : writeValue(to)
  return { action, path, to: text, when: condition }
}

function conditionDraftOf(when: unknown): ConditionDraft | undefined {
  if (!isJsonObject(when)) return undefined
  const { model = [], path = '', equals, exists, ...others } = when
  const isOdd = (equals !== undefined && exists === false) || (path === '' && (equals !== undefined || exists !== undefined))
  if (typeof path !== 'string' || Object.keys(others).length > 0 || isOdd) return undefined
  const models = [model].flat().map(String).join(', ')
  if (equals !== undefined) return { models, path, test: 'equals', value: writeValue(equals) }
  return { models, path, test: exists === false ? 'absent' : 'exists', value: '' }
}

function pathOf(name: string): string {
  return /^[\w-]+$/.test(name) ? name : `["${name}"]`
}
