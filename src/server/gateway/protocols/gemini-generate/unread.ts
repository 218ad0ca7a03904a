import { type Known, known, UnreadMembers } from '../unread-members.ts'
import type { JsonObject } from '../wire-format.ts'
import { camelCase, either, eitherObject, eitherText, toolGroups } from './members.ts'

/** Nested members of a generateContent request without a neutral form, in camel case. */
export function unreadIn(body: JsonObject): UnreadMembers {
  const unread = new UnreadMembers(camelCase)
  const config = eitherObject(body, 'generationConfig') ?? {}
  unread.note('generationConfig.thinkingConfig', either(config, 'thinkingConfig'), thinkingMembers)
  const calling = either(eitherObject(body, 'toolConfig') ?? {}, 'functionCallingConfig')
  unread.note('toolConfig.functionCallingConfig', calling, callingMembers)
  for (const group of toolGroups(body)) {
    unread.note('tools.functionDeclarations', either(group, 'functionDeclarations'), functionMembers)
    unread.note('tools.googleSearch', either(group, 'googleSearch'), searchMembers)
    unread.note('tools.googleSearchRetrieval', either(group, 'googleSearchRetrieval'), known(''))
  }
  unread.note('systemInstruction', either(body, 'systemInstruction'), contentMembers)
  unread.note('contents', either(body, 'contents'), contentMembers)
  return unread
}

const thinkingMembers = known('thinkingLevel thinkingBudget includeThoughts')
const limitingMembers = known('mode allowedFunctionNames')
const otherCallingMembers = known('mode')

/** Only some modes limit the calls to named functions. */
function callingMembers(calling: JsonObject): Known {
  const mode = eitherText(calling, 'mode').toUpperCase()
  return mode === 'ANY' || mode === 'VALIDATED' ? limitingMembers : otherCallingMembers
}

const functionMembers = known('name description parameters parametersJsonSchema')
/** Web search is the default kind of search. */
const searchMembers = known('', { searchTypes: known('webSearch') })
const bytes = known('mimeType data displayName')
const file = known('mimeType fileUri')
const partMembers = known('text thought thoughtSignature toolCall toolResponse', {
  functionCall: known('id name args'),
  functionResponse: known('id name response', { parts: known('', { inlineData: bytes, fileData: file }) }),
  inlineData: bytes,
  fileData: file,
  executableCode: known('id language code'),
  codeExecutionResult: known('id outcome output'),
  mediaResolution: known('level'),
})
const contentMembers = known('role', { parts: partMembers })
