import { CallFailure, fetchUntrusted, type UpstreamAgents } from '../lib/http-client.ts'
import { imageType } from '../lib/image-type.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../protocols/wire-format.ts'
import { UpstreamFailure } from './failure.ts'

/**
 * Images that an upstream gave by address as the bytes that the caller wants. The addresses are untrusted: only public ones are reached.
 * What cannot be had, or is no picture, is left out, and not charged. Throws an UpstreamFailure when none is left.
 */
export async function inlineImages(agents: UpstreamAgents, reply: JsonObject): Promise<JsonObject> {
  const images = arrayAt(reply, 'data').filter(isObject)
  const sizeBytesMax = Math.floor(totalBytesMax / Math.max(1, images.length))
  const fetched = await Promise.all(images.map((image) => withBytes(agents, image, sizeBytesMax)))
  const data = fetched.filter((image) => image !== undefined)
  if (data.length > 0) return { ...reply, data }
  throw new UpstreamFailure('bad-reply', { facts: { message: 'its images could not be fetched' } })
}

async function withBytes(agents: UpstreamAgents, image: JsonObject, sizeBytesMax: number): Promise<JsonObject | undefined> {
  const { url: _, ...rest } = image
  const url = textAt(image, 'url')
  if (url === '') return image
  try {
    const { status, body } = await fetchUntrusted(agents, {
      url,
      allowHttp: true,
      sizeBytesMax,
      timeoutMs: 60_000,
    })
    return status === 200 && imageType(body) ? { ...rest, b64_json: body.toString('base64') } : undefined
  } catch (error) {
    if (error instanceof CallFailure) return undefined
    throw error
  }
}

/** Of all images together. */
const totalBytesMax = 64 * 1024 * 1024
