import { BudgetExceeded, type Share } from '../lib/byte-budget.ts'
import { CallFailure } from '../lib/http-client.ts'
import { imageType } from '../lib/image-type.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../protocols/wire-format.ts'
import { UpstreamFailure } from './failure.ts'
import { fetchFile, mediaLimits, threeAtATime } from './fetch-media.ts'
import type { RelayParts } from './relay-parts.ts'

/**
 * Images that an upstream gave by address as the bytes that the caller wants. The addresses are untrusted: only public ones are reached.
 * What cannot be had, or is no picture, is left out, and not charged. Throws an UpstreamFailure when none is left.
 */
export async function inlineImages(app: RelayParts, reply: JsonObject): Promise<JsonObject> {
  const images = arrayAt(reply, 'data').filter(isObject)
  const sizeBytesMax = Math.floor(mediaLimits.shareBytesMax / Math.max(1, images.length))
  const share = app.mediaMemory.open()
  try {
    const fetched: (JsonObject | undefined)[] = []
    await threeAtATime(images, async (image, index) => {
      fetched[index] = await withBytes(app, share, image, sizeBytesMax)
    })
    const data = fetched.filter((image) => image !== undefined)
    if (data.length > 0) return { ...reply, data }
  } finally {
    share.release()
  }
  throw new UpstreamFailure('bad-reply', { facts: { message: 'its images could not be fetched' } })
}

async function withBytes(
  { upstream }: RelayParts,
  share: Share,
  image: JsonObject,
  sizeBytesMax: number,
): Promise<JsonObject | undefined> {
  const { url: _, ...rest } = image
  const url = textAt(image, 'url')
  if (url === '') return image
  try {
    const { status, body } = await fetchFile(upstream, share, { url, sizeBytesMax, timeoutMs: 60_000 })
    return status === 200 && imageType(body) ? { ...rest, b64_json: body.toString('base64') } : undefined
  } catch (error) {
    if (error instanceof CallFailure || error instanceof BudgetExceeded) return undefined
    throw error
  }
}
