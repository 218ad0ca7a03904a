import type { Zod } from './options/define.ts'
import { message } from './options/shapes.ts'
import type { Text } from './text.ts'

/** Chat pages: their names, and links with placeholders for a token's key and the address of this server. */

/** The placeholders of a link. */
export const chatPlaces = ['{key}', '{address}'] as const
export type ChatPlace = (typeof chatPlaces)[number]

/** Checks the name of a page; undefined when it is valid. */
export function faultOfChatName(name: string): Text | undefined {
  return name === '' || name.length > 50 ? { zh: '长度须为 1 至 50 个字符', en: 'must have 1 to 50 characters' } : undefined
}

/** Checks its link, which may open an application by its own scheme, but must not run a script in the console. */
export function faultOfChatLink(link: string): Text | undefined {
  if (link.length > 2000) return { zh: '长度不能大于 2000 个字符', en: 'must have at most 2000 characters' }
  const isLink = /^[a-z][a-z0-9+.-]*:\/\/\S/i.test(link) && !/^(javascript|vbscript|data|blob|file):/i.test(link)
  return isLink ? undefined : { zh: '须为链接', en: 'must be a link' }
}

/** A list of objects with a single member each: the name of a page and its link. */
export const chatList = (z: Zod) =>
  z
    .array(
      z
        .record(text(z, faultOfChatName), text(z, faultOfChatLink))
        .refine(
          (entry) => Object.keys(entry).length === 1,
          message('每项须恰有一个名称和链接', 'must have exactly one name with its link'),
        ),
    )
    .max(100)

function text(z: Zod, faultOf: (text: string) => Text | undefined) {
  return z.string().superRefine((value, { addIssue }) => {
    const fault = faultOf(value)
    if (fault) addIssue({ code: 'custom', message: fault.en, params: { ...fault } })
  })
}

/** Well-known chat pages; the defaults of a new site. */
export const knownChats: Record<string, string>[] = [
  { NextChat: 'https://app.nextchat.dev/#/?settings={"key":"{key}","url":"{address}"}' },
  {
    'Lobe Chat':
      'https://chat-preview.lobehub.com/?settings={"keyVaults":{"openai":{"apiKey":"{key}","baseURL":"{address}/v1"}}}',
  },
  {
    'AI as Workspace':
      'https://aiaw.app/set-provider?provider={"type":"openai","settings":{"apiKey":"{key}","baseURL":"{address}/v1","compatibility":"strict"}}',
  },
  { 'AMA 问天': 'ama://set-api-key?server={address}&key={key}' },
  { OpenCat: 'opencat://team/join?domain={address}&token={key}' },
]
