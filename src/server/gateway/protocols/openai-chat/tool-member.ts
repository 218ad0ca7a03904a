import { type JsonObject, objectAt } from '../wire-format.ts'

/** The member of a call, a declared tool or a choice, and whether its input is free text. */
interface ToolMember {
  readonly called: JsonObject | undefined
  readonly isCustom: boolean
}

/**
 * The member of a Chat tool call, tool or tool choice that is used: `function` or `custom`. If both are present, `type` decides; in
 * chunks of a stream without a type, the member that is not empty.
 */
export function toolMemberOf(call: JsonObject): ToolMember {
  const custom = objectAt(call, 'custom')
  const func = objectAt(call, 'function')
  if (!custom || !func) return { called: custom ?? func, isCustom: custom !== undefined || call.type === 'custom' }
  const isCustom = call.type === 'custom' || (call.type !== 'function' && isEmpty(func) && !isEmpty(custom))
  return { called: isCustom ? custom : func, isCustom }
}

function isEmpty(member: JsonObject): boolean {
  return Object.values(member).every((value) => value === '' || value === null || value === undefined)
}
