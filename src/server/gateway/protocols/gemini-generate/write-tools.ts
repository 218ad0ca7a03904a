import { fail } from '../../../base/lib/failure.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, Tool, ToolChoice } from '../dialogue.ts'
import { freeTextFunction } from '../function-tools.ts'
import { fieldNameFor, lose, searchUnless } from '../lost-fields.ts'
import { nameTools, type ToolNames } from '../tool-names.ts'
import type { JsonObject } from '../wire-format.ts'
import type { GeminiModel } from './models.ts'
import { writeOpenApiSchema } from './openapi-schema.ts'
import { writeJsonSchema } from './schema.ts'

interface Facts {
  readonly model: GeminiModel
  readonly isOpenApi: boolean
  readonly names: ToolNames
}

/** Valid names for Gemini of every tool that the conversation mentions. */
export function nameAllTools({ tools, toolChoice, turns }: Dialogue): ToolNames {
  const called = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])))
  const names = [...tools.map(({ name }) => name), ...chosenNames(toolChoice), ...called]
  return nameTools(names, { allowed: /[a-zA-Z0-9_.:-]/, lengthMax: 64, startsWithLetter: true })
}

/**
 * The functions in one tool, or the web search, and the tool choice. Gemini refuses functions and search together, or returns parts
 * that no other format has: the search is left out. Throws `untranslatable` if it is required, and for a choice of an undeclared
 * tool. Source: protocols notes 3.3 and 3.9.
 */
export function writeTools(dialogue: Dialogue, context: RequestContext, { model, isOpenApi, names }: Facts) {
  const offered = offeredTools(dialogue, model)
  const custom = offered.filter((tool) => tool.custom !== undefined)
  if (offered.some((tool) => tool.strict === true)) context.lose('strict')
  if (model.isOld && dialogue.toolChoice?.kind === 'auto' && dialogue.toolChoice.isValidated)
    lose(dialogue, context, 'toolChoice')
  const declarations = offered.map((tool) => {
    const { description, schema } = tool.custom ? freeTextFunction(tool, dialogue, context) : tool
    return {
      name: names.toUpstream(tool.name),
      ...(description ? { description: description.toWellFormed() } : {}),
      ...writeParameters(schema, isOpenApi),
    }
  })
  const search = searchUnless(declarations.length > 0 ? oneOrTheOther : undefined, dialogue, context)
  return {
    tools: [
      ...(declarations.length > 0 ? [{ functionDeclarations: declarations }] : []),
      ...(search ? [searchTool(dialogue, context, model)] : []),
    ],
    toolConfig: offered.length === 0 ? {} : writeChoice(dialogue, offered, model, names),
    customTools: new Set(custom.map(({ name }) => names.toUpstream(name))),
  }
}

/** Removes later tools of the same name and, for the oldest models, those that a choice excludes without requiring a call. */
function offeredTools({ tools, toolChoice }: Dialogue, { isOld }: GeminiModel): Tool[] {
  const isNarrowed = isOld && toolChoice?.kind === 'allowed' && !toolChoice.isRequired
  const seen = new Set<string>()
  return tools.filter(({ name }) => {
    const isFirst = !seen.has(name)
    seen.add(name)
    return isFirst && (!isNarrowed || toolChoice.names.includes(name))
  })
}

function writeParameters(schema: Tool['schema'], isOpenApi: boolean): JsonObject {
  if (schema === undefined) return {}
  const written = isOpenApi ? writeOpenApiSchema(schema) : writeJsonSchema(schema)
  return written ? { [isOpenApi ? 'parameters' : 'parametersJsonSchema']: written } : {}
}

function writeChoice(dialogue: Dialogue, offered: readonly Tool[], { isOld }: GeminiModel, names: ToolNames): JsonObject {
  const { toolChoice } = dialogue
  if (!toolChoice) return {}
  const chosen = chosenNames(toolChoice).filter((name) => offered.some((tool) => tool.name === name))
  const isNamed = toolChoice.kind === 'tool' || toolChoice.kind === 'allowed'
  if (isNamed && chosen.length === 0) {
    const reason = { zh: '指定的工具没有声明', en: 'it names no tool that is declared' }
    fail('untranslatable', { field: fieldNameFor(dialogue.from, 'toolChoice'), reason })
  }
  const isSoft = toolChoice.kind === 'allowed' && !toolChoice.isRequired
  const allowed = isNamed && !(isSoft && isOld) ? { allowedFunctionNames: chosen.map(names.toUpstream) } : {}
  return { functionCallingConfig: { mode: modeOf(toolChoice, isOld), ...allowed } }
}

function modeOf(choice: ToolChoice, isOld: boolean): string {
  if (choice.kind === 'none') return 'NONE'
  if (choice.kind === 'auto') return choice.isValidated && !isOld ? 'VALIDATED' : 'AUTO'
  if (choice.kind === 'allowed' && !choice.isRequired) return isOld ? 'AUTO' : 'VALIDATED'
  return 'ANY'
}

function chosenNames(choice: ToolChoice | undefined): readonly string[] {
  if (choice?.kind === 'tool') return [choice.name]
  return choice?.kind === 'allowed' ? choice.names : []
}

const oneOrTheOther = { zh: '该模型不能同时搜索和调用工具', en: 'this model cannot search and call tools in one request' }

function searchTool(dialogue: Dialogue, context: RequestContext, { isOld }: GeminiModel): JsonObject {
  const word = fieldNameFor(dialogue.from, 'search')
  if (dialogue.search?.contextSize) context.lose(`${word}.search_context_size`)
  if (dialogue.search?.location) context.lose(`${word}.user_location`)
  return isOld ? { googleSearchRetrieval: {} } : { googleSearch: {} }
}
