import { isSameModel, namesNoModel } from '../../../contract/model-names.ts'
import { membersOf, memberValue } from '../../base/lib/bytes/splice-json.ts'
import { eventAround } from '../../base/lib/bytes/sse.ts'
import { isObject, type JsonObject } from './wire-format.ts'

/** The names by which a reply may name its model without naming another one. */
interface ExpectedModel {
  /** The name that was sent to the upstream. */
  readonly sent: string
  /** Names of further models that may work for the call. */
  readonly others: readonly string[]
  /** The channel's key, which no row may show. */
  readonly key: string
}

/**
 * Reads which model an upstream says has answered, from the bytes as it sent them, in every format. A text search finds the name; only
 * where it is another one is the event or the body read, so that a name inside of content is not taken for it.
 */
export class AnsweredModel {
  /** The name in the reply where it is another model than was sent. */
  other: string | undefined
  readonly #expected: ExpectedModel
  /** How many blocks of a stream are still searched. */
  #left = blocksSearched

  constructor(expected: ExpectedModel) {
    this.#expected = expected
    if (expected.sent === '' || namesNoModel(expected.sent)) this.#left = 0
  }

  /** The name that was sent, or '' where it names no model. */
  get sent(): string {
    return namesNoModel(this.#expected.sent) ? '' : this.#expected.sent
  }

  /** Searches whole events as byte text. */
  readBlock(block: string): void {
    if (this.#left === 0) return
    const found = named.exec(block)
    this.#left = found ? 0 : this.#left - 1
    if (!found || this.#isExpected(found[1])) return
    const event = eventAround(block, found.index)
    const data = event && parse(event.data)
    if (data) this.#note(nameIn(data))
  }

  /** Reads the parsed object of a reply. */
  readReply(reply: JsonObject): void {
    if (this.#left > 0) this.#note(nameIn(reply))
  }

  /** Searches a whole body. */
  readBody(body: Buffer): void {
    if (this.#left === 0) return
    this.#left = 0
    const head = named.exec(body.toString('latin1', 0, bytesSearched))
    // Vectors and Gemini's replies name the model behind the content.
    const found = head ?? named.exec(body.toString('latin1', Math.max(0, body.length - bytesSearched)))
    if (!found || this.#isExpected(found[1])) return
    const members = membersOf(body)
    if (!members) {
      this.#readStreamIn(body)
      return
    }
    const values = ['model', 'modelVersion'].map((key) => [key, memberValue(body, members, key)])
    this.#note(nameIn(Object.fromEntries(values)))
  }

  /** A stream in place of a body. */
  #readStreamIn(body: Buffer): void {
    this.#left = 1
    this.readBlock(body.toString('latin1', 0, bytesSearched))
  }

  #note(name: string | undefined): void {
    const { key } = this.#expected
    if (name !== undefined && !this.#isExpected(name) && !(key !== '' && name.includes(key))) this.other = name
  }

  #isExpected(name = ''): boolean {
    const { sent, others } = this.#expected
    return name === sent || isSameModel(sent, name) || others.some((other) => isSameModel(other, name))
  }
}

/** Printable ASCII, as names of models are; the key is escaped inside of content. */
const named = /"model(?:Version)?"\s*:\s*"([!#-[\]-~]{1,200})"/
const blocksSearched = 16
const bytesSearched = 16 * 1024

/** The name of the model in a reply or the event of a stream, where the formats have it. */
function nameIn(data: JsonObject): string | undefined {
  const inside = [data.response, data.message, data.interaction].map((answer) => isObject(answer) && answer.model)
  const names = [data.model, data.modelVersion, ...inside]
  return names.find((name): name is string => typeof name === 'string' && namePattern.test(name))
}

/** Names of models are printable ASCII. A row must not show what looks like a key. */
const namePattern = /^(?!sk-|AIza)[!-~]{1,200}$/

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
