import { known, UnreadMembers } from '../unread-members.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import { camelCase, either, eitherList, eitherObject, toolGroups } from './members.ts'

/** What a generateContent request asks for inside its members and nothing neutral stands for, in camel case. */
export function unreadIn(body: JsonObject): { unread?: readonly string[] } {
  const unread = new UnreadMembers(camelCase)
  const config = eitherObject(body, 'generationConfig') ?? {}
  unread.note('generationConfig.thinkingConfig', either(config, 'thinkingConfig'), thinkingMembers)
  const calling = either(eitherObject(body, 'toolConfig') ?? {}, 'functionCallingConfig')
  unread.note('toolConfig.functionCallingConfig', calling, callingMembers)
  for (const group of toolGroups(body)) {
    unread.each('tools.functionDeclarations', either(group, 'functionDeclarations'), () => functionMembers)
  }
  const system = either(body, 'systemInstruction')
  if (isObject(system)) unread.each('systemInstruction.parts', eitherList(system, 'parts'), () => partMembers)
  for (const content of eitherList(body, 'contents')) {
    if (!isObject(content)) continue
    unread.note('contents', content, contentMembers)
    for (const part of eitherList(content, 'parts')) if (isObject(part)) notePart(part, unread)
  }
  return unread.names
}

function notePart(part: JsonObject, unread: UnreadMembers): void {
  unread.note('contents.parts', part, partMembers)
  for (const [member, members] of innerMembers) unread.note(`contents.parts.${member}`, either(part, member), members)
}

const thinkingMembers = known('thinkingLevel thinkingBudget includeThoughts')
const callingMembers = known('mode allowedFunctionNames')
const functionMembers = known('name description parameters parametersJsonSchema')
const contentMembers = known('role parts')
const partMembers = known(
  'text thought thoughtSignature functionCall functionResponse inlineData fileData executableCode codeExecutionResult ' +
    'mediaResolution',
)
const innerMembers = [
  ['functionCall', known('id name args')],
  ['functionResponse', known('id name response parts')],
  ['inlineData', known('mimeType data displayName')],
  ['fileData', known('mimeType fileUri')],
] as const
