import type { Text } from '../text.ts'

/** A program or library that calls this gateway, and how it is set up. Every value that a person types or pastes is in `steps`. */
export interface Client {
  readonly id: string
  readonly name: string
  readonly kind: ClientKind
  /** The interface of the gateway that it calls. */
  readonly dialect: ClientDialect
  /** The URL of the client's documentation. */
  readonly documentation: string
  /** Absent when the steps come from the client's documentation and were not tested. */
  readonly tried?: Tried
  /** Models that the client requests besides the chosen one. */
  readonly extraModels?: readonly ExtraModel[]
  readonly hint?: Text
  readonly steps: (setup: ClientSetup) => readonly ClientStep[]
}

export type ClientKind = 'agent' | 'chat' | 'library'
export type ClientDialect = 'chat' | 'responses' | 'messages' | 'gemini'

export const clientKinds: Readonly<Record<ClientKind, Text>> = {
  agent: { zh: '编程智能体', en: 'Coding agents' },
  chat: { zh: '聊天应用', en: 'Chat applications' },
  library: { zh: '命令行与 SDK', en: 'Command line and SDKs' },
}

export const clientDialects: Readonly<Record<ClientDialect, { readonly name: string; readonly path: string }>> = {
  chat: { name: 'OpenAI Chat', path: '/v1/chat/completions' },
  responses: { name: 'OpenAI Responses', path: '/v1/responses' },
  messages: { name: 'Anthropic Messages', path: '/v1/messages' },
  gemini: { name: 'Gemini generateContent', path: '/v1beta/models' },
}

export interface ClientSetup {
  /** The address of the gateway, without a trailing slash. */
  readonly address: string
  /** The key of a token, with its `sk-` prefix. */
  readonly key: string
  readonly model: string
}

/** A file or a command to paste, or the fields of a form. */
export type ClientStep =
  | {
      readonly place: Text
      readonly text: string
      readonly language: 'bash' | 'json' | 'toml' | 'yaml' | 'python' | 'typescript'
    }
  | { readonly place: Text; readonly fields: readonly { readonly label: string; readonly value: string }[] }

interface Tried {
  readonly version: string
  /** Year, month and day. */
  readonly date: string
}

interface ExtraModel {
  readonly model: string
  readonly use: Text
}
