import type { z } from 'zod'
import type { Text } from './text.ts'

/**
 * Why a value failed its schema, in both languages: the first issue, with its path in the value. A custom rule of a schema supplies
 * its text as `params: { zh, en }`.
 */
export function explain(error: { readonly issues: readonly z.core.$ZodIssue[] }): Text {
  const [first] = error.issues
  if (!first) return { zh: '值无效', en: 'is not valid' }
  const { issue, path } = nearest(first, first.path)
  const place = path.map(String).join('.')
  const reason = reasonOf(issue)
  if (place === '') return reason
  return { zh: `${place} ${reason.zh}`, en: `${place} ${reason.en}` }
}

/** For a union, the issue of the intended variant, if it can be determined. */
function nearest(
  issue: z.core.$ZodIssue,
  path: readonly PropertyKey[],
): { issue: z.core.$ZodIssue; path: readonly PropertyKey[] } {
  if (issue.code !== 'invalid_union') return { issue, path }
  const [meant] = issue.errors.filter((branch) => !branch.some(isOtherForm))
  const first = meant?.[0]
  return first ? nearest(first, [...path, ...first.path]) : { issue, path }
}

function isOtherForm({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'unrecognized_keys' || (code === 'invalid_type' && path.length === 0)
}

function reasonOf(issue: z.core.$ZodIssue): Text {
  switch (issue.code) {
    case 'too_small':
      if (issue.inclusive === false) return { zh: `须大于 ${issue.minimum}`, en: `must be greater than ${issue.minimum}` }
      return bound(issue.origin, { zh: '不能小于', en: 'at least' }, issue.minimum)
    case 'too_big':
      if (issue.inclusive === false) return { zh: `须小于 ${issue.maximum}`, en: `must be less than ${issue.maximum}` }
      return bound(issue.origin, { zh: '不能大于', en: 'at most' }, issue.maximum)
    case 'invalid_value':
      return { zh: `须为 ${issue.values.join('、')} 之一`, en: `must be one of ${issue.values.join(', ')}` }
    case 'invalid_type':
      if (isAbsent(issue)) return { zh: '不能为空', en: 'is required' }
      return types[issue.expected] ?? { zh: `类型须为 ${issue.expected}`, en: `must be of type ${issue.expected}` }
    case 'unrecognized_keys':
      return { zh: `含有未知字段 ${issue.keys.join('、')}`, en: `has unknown fields ${issue.keys.join(', ')}` }
    case 'custom':
      return isText(issue.params) ? issue.params : { zh: '值无效', en: issue.message }
    default:
      if (isAbsent(issue)) return { zh: '不能为空', en: 'is required' }
      return { zh: '格式无效', en: 'has an invalid form' }
  }
}

const object: Text = { zh: '须为对象', en: 'must be an object' }
const types: Readonly<Record<string, Text>> = {
  string: { zh: '须为字符串', en: 'must be a string' },
  number: { zh: '须为数字', en: 'must be a number' },
  int: { zh: '须为整数', en: 'must be a whole number' },
  boolean: { zh: '须为 true 或 false', en: 'must be true or false' },
  array: { zh: '须为数组', en: 'must be an array' },
  object,
  record: object,
}

/** Reads the input of the issue, which is present only if the parse requested it (`reportInput`). */
function isAbsent(issue: z.core.$ZodIssue): boolean {
  return 'input' in issue && issue.input === undefined
}

function bound(origin: string, word: Text, limit: number | bigint): Text {
  if (origin === 'string') return { zh: `长度${word.zh} ${limit} 个字符`, en: `must have ${word.en} ${limit} characters` }
  if (origin === 'array') return { zh: `数量${word.zh} ${limit} 项`, en: `must have ${word.en} ${limit} entries` }
  return { zh: `${word.zh} ${limit}`, en: `must be ${word.en} ${limit}` }
}

function isText(params: Readonly<Record<string, unknown>> | undefined): params is Readonly<Record<string, unknown>> & Text {
  return typeof params?.zh === 'string' && typeof params.en === 'string'
}
