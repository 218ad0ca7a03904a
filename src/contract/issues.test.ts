import { expect, it } from 'vitest'
import { z } from 'zod'
import { channelSetting } from './entities/channel.ts'
import { explain } from './issues.ts'

const reasonFor = (schema: z.ZodType, value: unknown, context = {}) => {
  const { error } = schema.safeParse(value, context)
  return error && explain(error).en
}

it('names the path of the fault in the intended variant, if a value may have several variants', () => {
  const rules = (...param_override: unknown[]) => reasonFor(channelSetting, { param_override })
  expect(rules({ set: 'a' })).toBe('param_override.0.to has an invalid form')
  expect(rules({ set: 'a', to: 1 }, { rename: 'a' })).toBe('param_override.1.to must be a string')
  expect(rules({ remove: 'model' })).toBe('param_override.0.remove cannot change model or stream')
  expect(rules({ other: 1 })).toBe('param_override.0 has an invalid form')
  expect(reasonFor(channelSetting, { param_override: 'text' })).toBe('param_override has an invalid form')
})

it('names a member by its path, and the value itself without a path', () => {
  expect(reasonFor(z.object({ a: z.array(z.int().max(3)) }), { a: [1, 4] })).toBe('a.1 must be at most 3')
  expect(reasonFor(z.int(), 'x')).toBe('must be a number')
  expect(reasonFor(z.strictObject({}), { b: 1 })).toBe('has unknown fields b')
})

it('names types in plain words, in both languages', () => {
  const told = (schema: z.ZodType, value: unknown) => {
    const { error } = schema.safeParse(value)
    return error && explain(error)
  }
  expect(told(z.int(), 1.5)).toEqual({ zh: '须为整数', en: 'must be a whole number' })
  expect(told(z.record(z.string(), z.int()), [])).toEqual({ zh: '须为对象', en: 'must be an object' })
  expect(told(z.boolean(), 'true')).toEqual({ zh: '须为 true 或 false', en: 'must be true or false' })
  expect(told(z.date(), 1)).toEqual({ zh: '类型须为 date', en: 'must be of type date' })
})

it('explains failures of custom rules in both languages', () => {
  const { error } = channelSetting.safeParse({ param_override: [{ remove: 'a b' }] })
  expect(error && explain(error)).toEqual({
    zh: 'param_override.0.remove 不是有效的路径',
    en: 'param_override.0.remove is not a path',
  })
})

it('distinguishes missing from invalid values, and names the bound of a value out of range', () => {
  const schema = z.object({ name: z.string(), id: z.int().positive(), at: z.union([z.string(), z.number()]) })
  const reason = (value: unknown) => reasonFor(schema, value, { reportInput: true })
  expect(reason({ id: 1, at: 1 })).toBe('name is required')
  expect(reason({ name: null, id: 1, at: 1 })).toBe('name must be a string')
  expect(reason({ name: '', id: 0, at: 1 })).toBe('id must be greater than 0')
  expect(reason({ name: '', id: 1 })).toBe('at is required')
})
