import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { httpUpstream } from './stage.ts'

/** A file as a simulated vendor has it. */
interface VendorFile {
  readonly id: string
  readonly name: string
  readonly purpose: string
  readonly key: string
  readonly bytes: Buffer
}

/**
 * A vendor that stores files by the rules of OpenAI, Anthropic and Google, each under its own paths: a file is known only to the key that
 * stored it. All other calls are recorded, and answered by `answer`.
 */
export async function fileVendor(answer: (path: string) => unknown = () => ({})) {
  const files = new Map<string, VendorFile>()
  const asked: { path: string; key: string; body: string }[] = []
  const parts = new Map<string, Buffer>()
  const state = { failing: 0, deleted: [] as string[] }
  const newId = () => `file-vendor${randomBytes(6).toString('hex')}`

  const url = await httpUpstream(async (request, response) => {
    const bytes = await buffer(request).catch(() => undefined)
    if (!bytes) return
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://vendor')
    const { headers, method } = request
    const key = String(headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization ?? '').replace('Bearer ', '')
    const send = (status: number, object: unknown, more: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...more })
      response.end(typeof object === 'string' || Buffer.isBuffer(object) ? object : JSON.stringify(object))
    }
    if (state.failing > 0) return send(state.failing, { error: { message: 'not now' } })
    const shape = path.includes('v1beta') ? gemini : headers['anthropic-version'] ? anthropic : openai
    const store = (file: VendorFile) => {
      files.set(file.id, file)
      return shape(file)
    }

    if (path === '/v1/files' && method === 'POST') {
      const form = await new Response(bytes, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
      const file = form.get('file') as File
      const purpose = String(form.get('purpose') ?? '')
      return send(200, store({ id: newId(), name: file.name, purpose, key, bytes: Buffer.from(await file.arrayBuffer()) }))
    }
    if (path === '/v1/uploads')
      return send(200, { id: 'upload_vendor', object: 'upload', status: 'pending', expires_at: later() })
    if (path === '/v1/uploads/upload_vendor/parts') {
      const form = await new Response(bytes, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
      const id = `part_${parts.size + 1}`
      parts.set(id, Buffer.from(await (form.get('data') as File).arrayBuffer()))
      return send(200, { id, object: 'upload.part', created_at: 1, upload_id: 'upload_vendor' })
    }
    if (path === '/v1/uploads/upload_vendor/complete') {
      const { part_ids: ids } = JSON.parse(bytes.toString()) as { part_ids: string[] }
      const whole = Buffer.concat(ids.map((id) => parts.get(id) ?? Buffer.alloc(0)))
      const file = store({ id: newId(), name: 'parts.txt', purpose: 'user_data', key, bytes: whole })
      return send(200, { id: 'upload_vendor', object: 'upload', status: 'completed', file })
    }
    if (path === '/upload/v1beta/files') {
      const command = String(headers['x-goog-upload-command'])
      if (command === 'start')
        return send(
          200,
          {},
          { 'x-goog-upload-url': `${url}/upload/v1beta/files?upload_id=secret`, 'x-goog-upload-status': 'active' },
        )
      if (searchParams.get('upload_id') !== 'secret') return send(404, {})
      const before = parts.get('gemini') ?? Buffer.alloc(0)
      const whole = Buffer.concat([before.subarray(0, Number(headers['x-goog-upload-offset'])), bytes])
      parts.set('gemini', whole)
      if (!command.includes('finalize')) return send(200, {}, { 'x-goog-upload-status': 'active' })
      const file = store({ id: randomBytes(6).toString('hex'), name: '', purpose: '', key, bytes: whole })
      return send(200, { file }, { 'x-goog-upload-status': 'final' })
    }
    const [, id, part] = /^\/v1(?:beta)?\/files\/([\w-]+)(\/content|:download)?$/.exec(path) ?? []
    if (id === undefined) {
      asked.push({ path, key, body: bytes.toString() })
      return send(200, answer(path))
    }
    const file = files.get(id)
    if (!file || file.key !== key) return send(404, { error: { message: 'No such file' } })
    if (method === 'DELETE') {
      files.delete(id)
      state.deleted.push(id)
      return send(200, { id, deleted: true })
    }
    return part === undefined ? send(200, shape(file)) : send(200, file.bytes, { 'content-type': 'application/octet-stream' })
  })

  const openai = ({ id, name, purpose, bytes }: VendorFile) => {
    return { id, object: 'file', bytes: bytes.length, created_at: 1, filename: name, purpose, status: 'processed' }
  }
  const anthropic = ({ id, name, bytes }: VendorFile) => {
    return {
      id,
      type: 'file',
      filename: name,
      mime_type: 'text/plain',
      size_bytes: bytes.length,
      created_at: new Date(0),
      expires_at: null,
    }
  }
  const gemini = ({ id, bytes }: VendorFile) => {
    const uri = `https://generativelanguage.googleapis.com/v1beta/files/${id}`
    const expirationTime = new Date(Date.now() + 48 * 3_600_000)
    return { name: `files/${id}`, mimeType: 'text/plain', sizeBytes: String(bytes.length), expirationTime, uri, state: 'ACTIVE' }
  }
  return { url, files, asked, state }
}

function later(): number {
  return Math.floor(Date.now() / 1000) + 3600
}
