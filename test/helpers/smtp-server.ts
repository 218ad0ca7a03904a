import net from 'node:net'
import tls from 'node:tls'
import { testCertificate as cert, testKey as key } from './certificate.ts'
import { listeningPort } from './listening.ts'

/** A small mail server on loopback: it implements enough SMTP to receive mails, and records them with their transport. */
export interface SmtpServer {
  readonly port: number
  readonly mails: readonly ReceivedMail[]
  /** Lines that clients sent before any TLS, credentials included if there were any. */
  readonly plainLines: readonly string[]
  readonly logins: readonly { user: string; password: string }[]
  /** Resolves with the newest mail to this address that is at least the `count`th one to it. */
  mailTo(address: string, count?: number): Promise<ReceivedMail>
  stop(): Promise<void>
}

interface ReceivedMail {
  readonly from: string
  readonly recipients: readonly string[]
  readonly secure: boolean
  /** Names in lower case, values decoded and unfolded. */
  readonly headers: ReadonlyMap<string, string>
  /** Decoded text and HTML parts, one after the other. */
  readonly text: string
  readonly raw: string
}

export interface SmtpSettings {
  /** 'starttls' offers the upgrade, 'tls' begins with it, 'none' does not offer it. */
  readonly security?: 'starttls' | 'tls' | 'none'
  /** If given, all other logins are refused. */
  readonly login?: { readonly user: string; readonly password: string }
  /** `silent` never greets, `stalled` never answers DATA, `refusing` accepts no recipient. */
  readonly fault?: 'silent' | 'stalled' | 'refusing'
  /** The only methods of AUTH that are offered. */
  readonly methods?: string
}

export async function startSmtpServer(settings: SmtpSettings = {}): Promise<SmtpServer> {
  const mails: ReceivedMail[] = []
  const plainLines: string[] = []
  const logins: { user: string; password: string }[] = []
  const sockets = new Set<net.Socket>()
  const waiting = new Set<() => void>()
  const record = { mails, plainLines, logins, told: () => waiting.forEach((look) => void look()) }

  const onSocket = (socket: net.Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    if (settings.fault !== 'silent') new Session(settings, record).serve(socket, settings.security === 'tls')
  }
  const server = settings.security === 'tls' ? tls.createServer({ cert, key }, onSocket) : net.createServer(onSocket)
  server.on('tlsClientError', () => {})

  return {
    port: await listeningPort(server),
    mails,
    plainLines,
    logins,
    mailTo: (to, count = 1) =>
      new Promise((resolve) => {
        const look = () => {
          const [found] = mails.filter(({ recipients }) => recipients.includes(to)).slice(count - 1)
          if (found) resolve(found)
          if (found) waiting.delete(look)
        }
        waiting.add(look)
        look()
      }),
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Recorded {
  readonly mails: ReceivedMail[]
  readonly plainLines: string[]
  readonly logins: { user: string; password: string }[]
  told(): void
}

class Session {
  readonly #settings: SmtpSettings
  readonly #record: Recorded
  #socket: net.Socket | undefined
  #secure = false
  #from = ''
  #recipients: string[] = []
  #data: string | undefined
  #rest = ''
  #signedIn = false
  /** Handles the next line when it is data and not a command. */
  #next: ((line: string) => void) | undefined

  constructor(settings: SmtpSettings, record: Recorded) {
    this.#settings = settings
    this.#record = record
  }

  serve(socket: net.Socket, secure: boolean): void {
    this.#secure = secure
    this.#listen(socket)
    this.#say('220 mail.test ESMTP')
  }

  #listen(socket: net.Socket): void {
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#rest += chunk.toString('latin1')
      for (let end = this.#rest.indexOf('\r\n'); end >= 0; end = this.#rest.indexOf('\r\n')) {
        const line = this.#rest.slice(0, end)
        this.#rest = this.#rest.slice(end + 2)
        if (!this.#secure) this.#record.plainLines.push(line)
        this.#onLine(line)
      }
    })
  }

  #say(...lines: string[]): void {
    this.#socket?.write(lines.map((line) => `${line}\r\n`).join(''))
  }

  #onLine(line: string): void {
    const next = this.#next
    this.#next = undefined
    if (this.#data !== undefined) this.#onData(line)
    else if (next) next(line)
    else this.#onCommand(line)
  }

  #onCommand(line: string): void {
    const [command = '', ...words] = line.split(' ')
    const rest = words.join(' ')
    const commands: Readonly<Record<string, () => unknown>> = {
      EHLO: () => this.#greet(),
      STARTTLS: () => this.#upgrade(),
      AUTH: () => this.#authenticate(words),
      MAIL: () => this.#onSender(rest),
      RCPT: () => this.#onRecipient(rest),
      DATA: () => this.#startData(),
      RSET: () => this.#say('250 OK'),
      QUIT: () => this.#socket?.end('221 bye\r\n'),
    }
    const answer = commands[command.toUpperCase()] ?? (() => this.#say('502 unknown'))
    answer()
  }

  #greet(): void {
    const upgrade = this.#settings.security === undefined || this.#settings.security === 'starttls'
    const offers = [
      ...(upgrade && !this.#secure ? ['STARTTLS'] : []),
      ...(this.#settings.login ? [`AUTH ${this.#settings.methods ?? 'PLAIN LOGIN'}`] : []),
      '8BITMIME',
    ]
    this.#say('250-mail.test', ...offers.map((offer, index) => `250${index === offers.length - 1 ? ' ' : '-'}${offer}`))
  }

  #upgrade(): void {
    const plain = this.#socket
    if (!plain) return
    this.#say('220 go ahead')
    plain.removeAllListeners('data')
    this.#rest = ''
    const secured = new tls.TLSSocket(plain, { isServer: true, cert, key })
    secured.on('error', () => {})
    this.#secure = true
    this.#listen(secured)
  }

  #authenticate([method = '', given]: readonly string[]): void {
    const decode = (text: string) => Buffer.from(text, 'base64').toString()
    const readPlain = (text: string) => {
      const [, user = '', password = ''] = decode(text).split('\0')
      this.#judge(user, password)
    }
    const readUser = (user: string) => {
      this.#next = (password) => this.#judge(decode(user), decode(password))
      this.#say('334 UGFzc3dvcmQ6')
    }
    const isPlain = method.toUpperCase() === 'PLAIN'
    if (isPlain && given !== undefined) {
      readPlain(given)
      return
    }
    this.#next = isPlain ? readPlain : readUser
    this.#say(isPlain ? '334 ' : '334 VXNlcm5hbWU6')
  }

  #judge(user: string, password: string): void {
    this.#record.logins.push({ user, password })
    this.#signedIn = user === this.#settings.login?.user && password === this.#settings.login.password
    this.#say(this.#signedIn ? '235 welcome' : `535 5.7.8 ${user} with ${password} is not known here`)
  }

  #onSender(rest: string): void {
    this.#from = addressIn(rest)
    this.#recipients = []
    this.#say(this.#settings.login && !this.#signedIn ? '530 sign in first' : '250 OK')
  }

  #onRecipient(rest: string): void {
    const refuses = this.#settings.fault === 'refusing'
    if (!refuses) this.#recipients.push(addressIn(rest))
    this.#say(refuses ? '550 no such mailbox' : '250 OK')
  }

  #startData(): void {
    if (this.#settings.fault === 'stalled') return
    this.#data = ''
    this.#say('354 go on')
  }

  #onData(line: string): void {
    if (line !== '.') {
      this.#data += `${line.startsWith('.') ? line.slice(1) : line}\r\n`
      return
    }
    const raw = this.#data ?? ''
    this.#data = undefined
    const { headers, text } = readMessage(raw)
    this.#record.mails.push({ from: this.#from, recipients: this.#recipients, secure: this.#secure, headers, text, raw })
    this.#say('250 delivered')
    this.#record.told()
  }
}

function addressIn(text: string): string {
  return /<([^>]*)>/.exec(text)?.[1] ?? ''
}

/** Headers and the text of all parts. Parses only the mails that the mail library writes. */
function readMessage(raw: string): Pick<ReceivedMail, 'headers' | 'text'> {
  const end = raw.indexOf('\r\n\r\n')
  const headers = readHeaders(raw.slice(0, end))
  const body = raw.slice(end + 4)
  const boundary = /boundary="?([^";]+)"?/.exec(headers.get('content-type') ?? '')?.[1]
  if (!boundary) return { headers, text: decodeBody(body, headers.get('content-transfer-encoding')) }
  const parts = body.split(`--${boundary}`).slice(1, -1)
  return { headers, text: parts.map((part) => readMessage(part.replace(/^\r\n/, '')).text).join('\n') }
}

function readHeaders(text: string): Map<string, string> {
  const lines = text.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())]
    }),
  )
}

function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString()
        : decodeBody(word.replaceAll('_', ' '), 'quoted-printable'),
    )
}

function decodeBody(text: string, encoding = '7bit'): string {
  if (encoding.toLowerCase() === 'base64') return Buffer.from(text, 'base64').toString()
  if (encoding.toLowerCase() !== 'quoted-printable') return Buffer.from(text, 'latin1').toString()
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
