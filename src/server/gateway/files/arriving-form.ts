import { MIMEType } from 'node:util'
import { readBoundary } from '../../base/lib/bytes/multipart.ts'
import { type FormPiece, MalformedForm, readFormPieces } from '../../base/lib/bytes/multipart-stream.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import type { StreamedBody } from '../../base/lib/net/upstream-http/request-head.ts'
import type { ReceivedRequest } from '../relay/http/read-body.ts'

/** Besides its file a form has a few short fields. */
const fieldBytesMax = 64 * 1024

/**
 * A form with a file that passes to the vendor as it arrives: its bytes are those of the caller, no faster than the vendor reads them, and
 * nothing of it is kept. Its size is checked on the way; a form that fails never reaches the vendor as a whole.
 */
export class ArrivingForm {
  readonly contentType: string
  readonly #request: ReceivedRequest
  readonly #boundary: string
  readonly #bytesMax: number
  #fileBytes = 0
  #hasBegun = false

  /** Throws `upload_form_invalid`, or `file_too_large` for an announced length that is too large. */
  constructor(request: ReceivedRequest, bytesMax: number) {
    const { 'content-type': contentType = '', 'content-encoding': encoding = 'identity' } = request.headers
    const boundary = boundaryOf(contentType)
    if (boundary === undefined) fail('upload_form_invalid', { reason: noForm })
    if (encoding !== 'identity') fail('encoding_unsupported', { encoding: encoding.slice(0, 50) })
    this.contentType = contentType
    this.#request = request
    this.#boundary = boundary
    this.#bytesMax = bytesMax
    if ((this.length ?? 0) > bytesMax + fieldBytesMax) fail('file_too_large', { limit: bytesMax })
  }

  /** Of the whole form, where the caller has announced it. */
  get length(): number | undefined {
    return declaredLength(this.#request)
  }

  /** Whether bytes of it were read, so that it cannot be sent again. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  get body(): StreamedBody & { readonly contentType: string } {
    return { pieces: this.#pieces(), length: this.length, contentType: this.contentType }
  }

  async *#pieces(): AsyncGenerator<Buffer> {
    this.#hasBegun = true
    try {
      const chunks = chunksOf(this.#request)
      let isFile = false
      let fieldBytes = 0
      for await (const piece of readFormPieces(chunks, this.#boundary)) {
        if (piece.kind === 'part') isFile = piece.head.filename !== undefined
        if (piece.kind === 'data' && isFile) this.#countFile(piece)
        else if (piece.kind === 'data') fieldBytes += piece.bytes.length
        if (fieldBytes > fieldBytesMax) fail('upload_form_invalid', { reason: longFields })
        yield piece.bytes
      }
    } catch (error) {
      throw asFailure(error)
    }
  }

  #countFile({ bytes }: FormPiece): void {
    this.#fileBytes += bytes.length
    if (this.#fileBytes > this.#bytesMax) fail('file_too_large', { limit: this.#bytesMax })
  }
}

const noForm = { zh: '须为 multipart/form-data', en: 'it must be multipart/form-data' }
const longFields = { zh: '表单字段过长', en: 'the fields of the form are too long' }
const unreadable = { zh: '表单无法解析', en: 'the form cannot be read' }
const cutOff = { zh: '上传中断', en: 'it was cut off' }

/** The bytes of a request. Its connection stays open when nobody reads on, for the answer. */
export function chunksOf(request: ReceivedRequest): AsyncIterable<Buffer> {
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) }
}

/** In bytes, as the caller has announced it; undefined for a body in chunks. */
export function declaredLength({ headers }: ReceivedRequest): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

function asFailure(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError('upload_form_invalid', { reason: error instanceof MalformedForm ? unreadable : cutOff }, { cause: error })
}

function boundaryOf(contentType: string): string | undefined {
  try {
    const type = new MIMEType(contentType)
    return type.essence === 'multipart/form-data' ? readBoundary(type.params.get('boundary')) : undefined
  } catch {
    return undefined
  }
}
