import type { RequestContext } from './codec.ts'
import type { Dialogue, Tool, ToolCallPart } from './dialogue.ts'
import { fieldNameFor, lose } from './lost-fields.ts'
import { inputObject, inputText } from './tool-input.ts'
import { nameTools, type ToolNameRule, type ToolNames } from './tool-names.ts'
import { isObject, type JsonObject } from './wire-format.ts'

/** The tools of a request for formats that support only functions with a JSON schema and the choices "auto" and "required". */
export interface FunctionTools {
  /** The tools that the choice allows; empty for the choice `none`. */
  readonly offered: readonly FunctionTool[]
  /** What remains of the choice after `offered` was limited by it; undefined when `offered` is empty. */
  readonly choice: 'auto' | 'required' | undefined
  readonly names: ToolNames
  /** Upstream names of the caller's free-text tools. */
  readonly customTools: ReadonlySet<string>
}

export interface FunctionTool {
  readonly name: string
  readonly description: string | undefined
  readonly schema: JsonObject
  readonly strict: boolean
}

/**
 * Tools as functions: a free-text tool becomes a function with the string parameter `input`, and a choice of one tool leaves only
 * that tool, which is then forced. A later tool of the same name is left out. Source: protocols notes 3.3.
 */
export function functionTools(dialogue: Dialogue, context: LossContext, rule: ToolNameRule = openAiNames): FunctionTools {
  const { tools, toolChoice, turns } = dialogue
  const called = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])))
  const names = nameTools([...tools.map(({ name }) => name), ...called], rule)
  const custom = tools.filter((tool) => tool.custom !== undefined)
  const offered = tools
    .filter(({ name }, at) => isChosen(name, toolChoice) && tools.findIndex((tool) => tool.name === name) === at)
    .map((tool) => ({
      name: names.toUpstream(tool.name),
      ...(tool.custom
        ? freeTextFunction(tool, dialogue, context)
        : { description: tool.description, schema: objectSchema(tool.schema) }),
      strict: tool.strict === true,
    }))

  return {
    offered,
    choice: offered.length === 0 ? undefined : mustCall(toolChoice) ? 'required' : 'auto',
    names,
    customTools: new Set(custom.map(({ name }) => names.toUpstream(name))),
  }
}

/**
 * The tool that must be called, for vendors that can force one given tool, but not a call of any tool: with several tools the
 * choice is reported as lost. Undefined when the model may choose.
 */
export function demandedTool(
  dialogue: Dialogue,
  context: RequestContext,
  { offered, choice }: FunctionTools,
): FunctionTool | undefined {
  if (choice !== 'required') return undefined
  if (offered.length === 1) return offered[0]
  lose(dialogue, context, 'toolChoice')
  return undefined
}

/** The name rule of OpenAI and most other vendors. */
const openAiNames: ToolNameRule = { allowed: /[a-zA-Z0-9_-]/, lengthMax: 64 }

/** A tool in the form of OpenAI's Chat, for vendors that use the same form. */
export function writeFunction({ name, description, schema }: FunctionTool): JsonObject {
  return { type: 'function', function: { name, ...(description === undefined ? {} : { description }), parameters: schema } }
}

/** A tool call of the history in the same form. */
export function writeCall({ names }: FunctionTools, call: ToolCallPart): JsonObject {
  return { id: call.callId, type: 'function', function: { name: names.toUpstream(call.name), arguments: callText(call) } }
}

/** The members of `WrittenRequest` that restore the caller's tools in the reply. */
export function undoing({ names, customTools }: FunctionTools) {
  return {
    ...(names.toCaller.size > 0 ? { toolNames: names.toCaller } : {}),
    ...(customTools.size > 0 ? { customTools } : {}),
  }
}

/** The input of a past call as an object; free text becomes its member `input`. */
export function callObject({ input, isCustom }: ToolCallPart): JsonObject {
  return isCustom ? { input } : inputObject(input)
}

/** The input of a past call as JSON text; free text becomes its member `input`. */
export function callText({ input, isCustom }: ToolCallPart): string {
  return isCustom ? JSON.stringify({ input }) : inputText(input)
}

function isChosen(name: string, choice: Dialogue['toolChoice']): boolean {
  if (choice?.kind === 'none') return false
  if (choice?.kind === 'tool') return choice.name === name
  return choice?.kind !== 'allowed' || choice.names.includes(name)
}

function mustCall(choice: Dialogue['toolChoice']): boolean {
  return choice?.kind === 'required' || choice?.kind === 'tool' || (choice?.kind === 'allowed' && choice.isRequired)
}

type LossContext = Pick<RequestContext, 'lose'>

/**
 * A free-text tool as a function with the string parameter `input`. Its grammar, which no function can have, is told in the description
 * and reported as lost.
 */
export function freeTextFunction(
  { description, custom }: Tool,
  { from }: Dialogue,
  context: LossContext,
): { readonly description: string | undefined; readonly schema: JsonObject } {
  const format = custom?.format
  if (!isObject(format) || format.type === 'text') return { description, schema: freeTextSchema }
  context.lose(`${fieldNameFor(from, 'tools')}.format`)
  const rule = `The input must follow this format: ${JSON.stringify(format)}`
  return { description: description ? `${description}\n\n${rule}` : rule, schema: freeTextSchema }
}

const freeTextSchema: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

function objectSchema(schema: JsonObject | undefined): JsonObject {
  return schema === undefined ? { type: 'object', properties: {} } : 'type' in schema ? schema : { type: 'object', ...schema }
}
