import type { PublicKeyCredentialCreationOptionsJSON, PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/browser'
import { defineTexts, textOf } from './i18n.ts'

/** Passkeys in this browser. The library is loaded with the first of them. */

const library = () => import('@simplewebauthn/browser')

/** Whether this browser supports passkeys, which requires https or localhost. */
export function supportsPasskeys(): boolean {
  return window.isSecureContext && 'PublicKeyCredential' in window
}

type Options = Readonly<Record<string, unknown>>
type Answer = Record<string, unknown>

/** Has the device create a passkey; undefined if the user cancelled. Throws an error with a message for the user. */
export async function createPasskey(options: Options): Promise<Answer | undefined> {
  const { startRegistration } = await library()
  // The server makes the options with the counterpart of this library.
  const optionsJSON = options as unknown as PublicKeyCredentialCreationOptionsJSON
  return answered(startRegistration({ optionsJSON }))
}

/** Has the device use a passkey; undefined if the user cancelled. Throws an error with a message for the user. */
export async function requestPasskey(options: Options): Promise<Answer | undefined> {
  const { startAuthentication } = await library()
  // As above.
  const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON
  return answered(startAuthentication({ optionsJSON }))
}

async function answered(work: Promise<object>): Promise<Answer | undefined> {
  try {
    return { ...(await work) }
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : ''
    if (name === 'NotAllowedError' || name === 'AbortError') return undefined
    throw new Error(textOf(texts, name === 'InvalidStateError' ? 'known' : 'failed'), { cause })
  }
}

const texts = defineTexts({
  known: ['此设备已添加过通行密钥', 'This device already has a passkey for your account'],
  failed: ['此浏览器无法使用通行密钥', 'This browser could not use the passkey'],
})
