import type { MediaPart, TextPart } from '../dialogue.ts'
import { readMediaUrl } from '../media.ts'
import { hostedUseAsText } from '../tool-texts.ts'
import type { UnreadMembers } from '../unread-members.ts'
import { isObject, type JsonObject, textAt } from '../wire-format.ts'

/** A past use of a tool as parts, and the role of its turn. */
interface PastTool {
  readonly role: 'user' | 'assistant'
  readonly parts: readonly (TextPart | MediaPart)[]
}

/**
 * A past call or result of a tool that other vendors lack, as text: in an assistant turn if the vendor ran the tool, in a user turn
 * if the caller did. Images are kept. Adds lost members to `unread`. Undefined for other items. Throws `field_invalid` for an
 * invalid image.
 */
export function readPastTool(item: JsonObject, unread: UnreadMembers): PastTool | undefined {
  const type = textAt(item, 'type')
  if (leftOut.has(type)) {
    unread.add(`input.${type}`)
    return { role: 'assistant', parts: [] }
  }
  const [, tool, kind] = pastTool.exec(type) ?? []
  if (tool === undefined) return undefined

  const role = kind === '_call_output' || kind === '_response' ? 'user' : 'assistant'
  const members = Object.fromEntries(Object.entries(item).filter(([member, value]) => !silent.has(member) && isGiven(value)))
  const given = answerMembers.map((member) => item[member]).find(isGiven)
  const answer = kind === '_response' ? members : (given ?? (role === 'user' ? item.status : undefined))
  const lose = (member: string) => unread.add(`input.${member}`)
  const shown = withoutPictures(answer, role, lose)
  const use = {
    name: tool === 'mcp' ? `${textAt(item, 'server_label')}.${textAt(item, 'name')}` : tool,
    input: role === 'user' ? undefined : tool === 'mcp' ? item.arguments : onlyIn(members),
    answer: shown.answer,
    isError: isGiven(item.error) || item.status === 'failed',
  }
  return { role, parts: [...hostedUseAsText(use, lose), ...shown.pictures] }
}

/** Tools that only the vendor's own model can call, and a program of which only the results are visible. */
const leftOut: ReadonlySet<string> = new Set(['mcp_list_tools', 'program'])

const pastTool = /^([a-z_]{1,60}?)(_call|_call_output|_output|_request|_response)$/

const answerMembers = ['error', 'outputs', 'output', 'results', 'result'] as const

/** Members without meaning for a model. */
const silent: ReadonlySet<string> = new Set([
  ...['type', 'id', 'status', 'call_id', 'caller', 'container_id', 'environment', 'max_output_length', 'approval_request_id'],
  ...['pending_safety_checks', 'acknowledged_safety_checks'],
  ...answerMembers,
])

/** The only member, if there is exactly one. */
function onlyIn(members: JsonObject): unknown {
  const [only, ...more] = Object.values(members)
  return more.length === 0 ? only : members
}

/** The answer with a placeholder for each image. A URL that the caller did not write may only be readable by the vendor. */
function withoutPictures(
  answer: unknown,
  role: PastTool['role'],
  lose: (member: string) => void,
): { answer: unknown; pictures: MediaPart[] } {
  const pictures: MediaPart[] = []
  const noted = (Array.isArray(answer) ? answer : [answer]).map((entry: unknown) => {
    if (!isObject(entry) || !pictureTypes.has(entry.type)) return entry
    const url = textAt(entry, 'image_url') || textAt(entry, 'url')
    if (url === '' || (role === 'assistant' && !url.startsWith('data:'))) {
      lose('image')
      return '[image]'
    }
    pictures.push({ kind: 'media', media: 'image', source: readMediaUrl(url) })
    return '[image attached]'
  })
  return { answer: noted, pictures }
}

const pictureTypes: ReadonlySet<unknown> = new Set(['computer_screenshot', 'image', 'input_image'])

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
}
