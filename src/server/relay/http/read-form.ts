import { MIMEType } from 'node:util'
import { fail } from '../../lib/failure.ts'
import { type Form, readBoundary, readMultipart, spliceForm } from '../../lib/multipart.ts'
import type { JsonObject, UploadedFile } from '../../protocols/wire-format.ts'

/** A multipart form. Its texts are the members of `json`; a name that comes twice is a list. Files are views of the body's bytes. */
export interface SentForm extends Form {
  readonly contentType: string
  readonly files: readonly UploadedFile[]
}

/** Far beyond every real form; taking one of very many parts apart holds everybody up. */
const formPartsMax = 1000

export function isForm(contentType: string): boolean {
  return /^\s*multipart\/form-data\s*;/i.test(contentType)
}

/** Reads a form without copying its files. Throws `bad_request`. */
export function readForm(bytes: Buffer, contentType: string): { json: JsonObject; form: SentForm } {
  const boundary = boundaryOf(contentType)
  const form = boundary === undefined ? 'malformed' : readMultipart(bytes, boundary, formPartsMax)
  if (form === 'too-many') fail('bad_request', { reason: `the form has more than ${formPartsMax} parts` })
  if (form === 'malformed') fail('bad_request', { reason: 'the form cannot be read' })

  const texts = new Map<string, string[]>()
  const files: UploadedFile[] = []
  for (const { name, filename, mediaType, body } of form.parts) {
    if (filename !== undefined) files.push({ field: name, name: filename, mediaType, bytes: body })
    else texts.set(name, [...(texts.get(name) ?? []), body.toString('utf8')])
  }
  const json = Object.fromEntries(Array.from(texts, ([field, values]) => [field, values.length === 1 ? values[0] : values]))
  // Written anew, so that the boundary that took the form apart here is the one that does upstream.
  const type = new MIMEType('multipart/form-data')
  type.params.set('boundary', form.boundary)
  return { json, form: { ...form, contentType: String(type), files } }
}

/** The form with these fields set or (undefined) taken out; everything else stays where it was. Throws `bad_request`. */
export function changedForm(bytes: Buffer, form: SentForm, changes: Readonly<Record<string, unknown>>): Buffer {
  const texts = Object.entries(changes).map(([name, value]) => [name, value === undefined ? undefined : String(value)])
  try {
    return spliceForm(bytes, form, Object.fromEntries(texts))
  } catch (cause) {
    if (cause instanceof RangeError) fail('bad_request', { reason: 'the boundary of the form stands in a field' }, { cause })
    throw cause
  }
}

function boundaryOf(contentType: string): string | undefined {
  try {
    return readBoundary(new MIMEType(contentType).params.get('boundary'))
  } catch {
    return undefined
  }
}
