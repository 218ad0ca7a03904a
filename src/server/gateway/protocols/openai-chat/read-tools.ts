import type { Text } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { CacheMark, Dialogue, Tool, ToolChoice, VendorOnlyTool } from '../dialogue.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { toolMemberOf } from './tool-member.ts'

/** The tools of a Chat request, including the older `functions`, and those that only their vendor has. Throws for a tool without a name. */
export function readTools(body: JsonObject): Pick<Dialogue, 'tools' | 'vendorOnly'> {
  const tools: Tool[] = []
  const vendorOnly: VendorOnlyTool[] = []
  for (const [at, tool] of arrayAt(body, 'tools').entries()) {
    const field = `tools[${at}]`
    if (!isObject(tool)) return refuseTool(field)
    const { called, isCustom } = toolMemberOf(tool)
    const isOwn = (called && isCustom) || tool.type === 'function' || (tool.type === undefined && called)
    if (isOwn) tools.push(readTool(tool, field))
    else vendorOnly.push({ field: `${field}.type`, name: `tools.${nameOf(tool)}`, reason: onlyItsVendor, sent: tool })
  }
  if (vendorOnly.length > 0) return { tools, vendorOnly }
  if (tools.length > 0) return { tools }
  return { tools: arrayAt(body, 'functions').map((declared, at) => readFunction(declared, `functions[${at}]`)) }
}

const onlyItsVendor: Text = { zh: '只有该厂商提供此类工具', en: 'only its vendor has tools of this type' }

/** Some vendors put the name of a hosted tool where the name of a function is. */
function nameOf(tool: JsonObject): string {
  return textAt(objectAt(tool, 'function') ?? {}, 'name') || textAt(tool, 'type') || '?'
}

/** The tool choice; undefined when the request has none. Throws `field_invalid` for an invalid choice. */
export function readToolChoice(body: JsonObject): ToolChoice | undefined {
  const field = body.tool_choice === undefined || body.tool_choice === null ? 'function_call' : 'tool_choice'
  const choice = body[field]
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice }
  if (choice === 'any') return { kind: 'required' }
  if (choice === 'validated') return { kind: 'auto', isValidated: true }
  if (!isObject(choice)) return refuseChoice(field)
  return choice.type === 'allowed_tools' ? readAllowed(choice) : readNamed(choice, field)
}

/** A breakpoint in Anthropic's form, which some hosts pass on, or in OpenAI's. */
export function readCacheMark(part: JsonObject): { cache?: CacheMark } {
  const mark = objectAt(part, 'cache_control') ?? objectAt(part, 'prompt_cache_breakpoint')
  return mark ? { cache: { ttl: mark.ttl === '1h' || mark.ttl === '12h' ? '1h' : '5m' } } : {}
}

function readTool(tool: JsonObject, field: string): Tool {
  const { called = tool, isCustom } = toolMemberOf(tool)
  if (!isCustom) return { ...readFunction(called, field), ...readCacheMark(tool) }
  const name = requireName(called, `${field}.custom`)
  const description = textAt(called, 'description') || undefined
  return { name, description, schema: undefined, strict: undefined, custom: { format: called.format }, ...readCacheMark(tool) }
}

function readFunction(declared: unknown, field: string): Tool {
  if (!isObject(declared)) return refuseTool(field)
  return {
    name: requireName(declared, field),
    description: textAt(declared, 'description') || undefined,
    schema: objectAt(declared, 'parameters'),
    strict: typeof declared.strict === 'boolean' ? declared.strict : undefined,
    custom: undefined,
  }
}

function readNamed(choice: JsonObject, field: string): ToolChoice {
  const { called: named = choice } = toolMemberOf(choice)
  const name = textAt(named, 'name')
  return name === '' ? refuseChoice(field) : { kind: 'tool', name }
}

function readAllowed(choice: JsonObject): ToolChoice {
  const allowed = objectAt(choice, 'allowed_tools') ?? choice
  const tools = arrayAt(allowed, 'tools').filter(isObject)
  const names = tools.map((tool) => textAt(toolMemberOf(tool).called ?? tool, 'name'))
  return { kind: 'allowed', names: names.filter((name) => name !== ''), isRequired: allowed.mode === 'required' }
}

function requireName(declared: JsonObject, field: string): string {
  const name = textAt(declared, 'name')
  if (name === '') fail('field_invalid', { field: `${field}.name`, reason: { zh: '不能为空', en: 'must not be empty' } })
  return name
}

function refuseTool(field: string): never {
  return fail('field_invalid', { field, reason: { zh: '必须是对象', en: 'must be an object' } })
}

function refuseChoice(field: string): never {
  return fail('field_invalid', { field, reason: { zh: '未知的取值', en: 'this value is not known' } })
}
