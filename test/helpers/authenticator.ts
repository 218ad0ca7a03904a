import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** The reply of a browser and its device to the options of a call, with faults that a test specifies. */
export interface Deviations {
  readonly origin?: string
  readonly site?: string
  readonly challenge?: string
  readonly verified?: boolean
  readonly counter?: number
  readonly type?: string
  /** Replaces the format of the attestation. */
  readonly format?: string
  readonly damaged?: boolean
}

type Options = Readonly<Record<string, unknown>>

/** A device with one passkey, in software: ES256, no attestation. WebAuthn level 3, sections 6.1 and 6.5. */
export function newAuthenticator({ origin, site }: { origin: string; site: string }) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  let counter = 0

  const clientData = (type: string, options: Options, { challenge, origin: other, type: otherType }: Deviations) =>
    Buffer.from(JSON.stringify({ type: otherType ?? type, challenge: challenge ?? options.challenge, origin: other ?? origin }))
  const dataOf = ({ site: other, verified = true, counter: fixed }: Deviations, attested = Buffer.alloc(0)) => {
    const flags = 0x01 | (verified ? 0x04 : 0) | (attested.length > 0 ? 0x40 : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(fixed ?? ++counter)
    return Buffer.concat([sha256(Buffer.from(other ?? site)), Buffer.of(flags), count, attested])
  }
  const answer = (response: Record<string, string>) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  })

  return {
    /** Creates the passkey. */
    create(options: Options, deviations: Deviations = {}) {
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      const key = Buffer.concat([
        Buffer.from('a5010203262001215820', 'hex'),
        Buffer.from(x, 'base64url'),
        Buffer.from('225820', 'hex'),
        Buffer.from(y, 'base64url'),
      ])
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.of(0, id.length), id, key])
      const data = dataOf(deviations, attested)
      const attestation = Buffer.concat([
        Buffer.of(0xa3),
        cborText('fmt'),
        cborText(deviations.format ?? 'none'),
        cborText('attStmt'),
        Buffer.of(0xa0),
        cborText('authData'),
        Buffer.of(0x58, data.length),
        data,
      ])
      return answer({
        clientDataJSON: clientData('webauthn.create', options, deviations).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
      })
    },
    /** Uses the passkey. */
    get(options: Options, deviations: Deviations = {}) {
      const client = clientData('webauthn.get', options, deviations)
      const data = dataOf(deviations)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      if (deviations.damaged) signature.writeUInt8((signature.at(-1) ?? 0) ^ 1, signature.length - 1)
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      })
    },
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.of(0x60 + text.length), Buffer.from(text)])
}
