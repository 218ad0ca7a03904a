import type { Text } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { VendorOnlyTool } from '../dialogue.ts'
import type { JsonObject } from '../wire-format.ts'

/** Refuses a feature that no other protocol can carry, by the caller's name for it. Throws `untranslatable`. */
export function refuse(field: string, reason: Text): never {
  return fail('untranslatable', { field, reason })
}

/** Refuses an invalid member. Throws `field_invalid`. */
export function refuseInvalid(field: string, reason: Text): never {
  return fail('field_invalid', { field, reason })
}

/** Refuses items and choices that only their vendor supports. Throws `untranslatable`. */
export function refuseType(field: string, type: unknown): never {
  return refuse(`${field}.type`, onlyAtVendor(shortType(type)))
}

/** A tool that only its vendor supports. */
export function vendorOnlyTool({ type }: JsonObject, field: string): VendorOnlyTool {
  const name = shortType(type)
  return { field: `${field}.type`, name: `tools.${name}`, reason: onlyAtVendor(name) }
}

function shortType(type: unknown): string {
  return typeof type === 'string' && type !== '' ? type.slice(0, 60) : '?'
}

function onlyAtVendor(name: string): Text {
  return { zh: `只有原厂商提供 ${name} 类型`, en: `the type ${name} only exists at its vendor` }
}

export const mustBeObject: Text = { zh: '必须是对象', en: 'must be an object' }
export const unknownValue: Text = { zh: '未知的取值', en: 'this value is not known' }
