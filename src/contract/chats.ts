import { z } from 'zod'
import { says } from './options/shapes.ts'

/** Chat pages: what they are called, and links into which the key of a token and the address of this server are put. */

/** The places of a link. */
export const chatPlaces = ['{key}', '{address}'] as const
export type ChatPlace = (typeof chatPlaces)[number]

export const chatName = z.string().min(1).max(50)

/** It may open an application by its own scheme, but must not run a script in the console. */
export const chatLink = z
  .string()
  .max(2000)
  .refine(
    (text) => /^[a-z][a-z0-9+.-]*:\/\/\S/i.test(text) && !/^(javascript|vbscript|data|blob|file):/i.test(text),
    says('须为链接', 'must be a link'),
  )

/** One name with its link. */
const chatEntry = z
  .record(chatName, chatLink)
  .refine(
    (entry) => Object.keys(entry).length === 1,
    says('每项须恰有一个名称和链接', 'must have exactly one name with its link'),
  )

export const chatList = z.array(chatEntry).max(100)

/** Well-known pages: those that a new site begins with. */
export const knownChats: z.output<typeof chatList> = [
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
