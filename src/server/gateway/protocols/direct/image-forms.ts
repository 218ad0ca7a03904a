import { fail } from '../../../base/lib/failure.ts'
import { base64Source, readMediaUrl } from '../media.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { type CallerRequest, type FetchedFile, loseAllBut } from './conversion.ts'

/** A caller's image request in neutral form, for new or edited images. */
export interface ImageRequest {
  readonly prompt: string
  readonly count: number
  /** Undefined if the model chooses it. */
  readonly size: ImageSize | undefined
  readonly wantsBytes: boolean
  /** The input images, to change or combine. */
  readonly images: readonly ImageSource[]
}

interface ImageSize {
  readonly width: number
  readonly height: number
}

/** A URL, or bytes. */
type ImageSource = { readonly url: string } | FetchedFile

/**
 * Reads the members that every vendor supports. `carried` are further members of the conversion's vendor. A mask is refused: without
 * it everything would be painted over. Throws `untranslatable`. Source: protocols notes 1.5.
 */
export function readImageRequest(asked: CallerRequest, carried: readonly string[] = []): ImageRequest {
  const { body, files } = asked
  if (body.mask !== undefined || files.some(({ field }) => field === 'mask'))
    fail('untranslatable', { field: 'mask', reason: { zh: '该渠道不支持蒙版', en: 'the channel knows no masks' } })
  loseAllBut(asked, [...read, ...carried])
  const size = readSize(textAt(body, 'size'))
  if (!size && !['', 'auto'].includes(textAt(body, 'size')) && !carried.includes('size')) asked.lose('size')
  return {
    prompt: textAt(body, 'prompt'),
    count: Number(body.n ?? 1) || 1,
    size,
    wantsBytes: body.response_format === 'b64_json',
    images: [...files.filter(isImage).map(fileOf), ...sourcesIn(body)],
  }
}

const read = ['model', 'prompt', 'n', 'size', 'response_format', 'image', 'images', 'image[]', 'stream']

/** The image URLs of a JSON request. */
export function imageAddresses(body: JsonObject): string[] {
  return sourcesIn(body).flatMap((source) => ('url' in source && /^https?:/i.test(source.url) ? [source.url] : []))
}

/** The bytes of an image, for vendors that accept nothing else. */
export function bytesOf(source: ImageSource, { fetched }: CallerRequest): FetchedFile {
  if ('data' in source) return source
  const file = fetched.get(source.url)
  return (
    file ?? fail('untranslatable', { field: 'image', reason: { zh: '图片只能以内容给出', en: 'images must be given as bytes' } })
  )
}

/** A web URL or a data URL, for vendors that accept both. */
export function urlOf(source: ImageSource): string {
  return 'url' in source ? source.url : `data:${source.mediaType};base64,${source.data}`
}

/**
 * The aspect ratio to send to a vendor that takes no sizes: that of the request, or else the one nearest to its size, '' without
 * either. A size that the ratio does not keep is lost.
 */
export function aspectRatioOf({ body, lose }: CallerRequest, size: ImageSize | undefined, known: readonly string[]): string {
  const given = textAt(body, 'aspect_ratio')
  if (!size) return given
  const { ratio, isExact } = nearestRatio(size, known)
  if (!isExact || (given !== '' && given !== ratio)) lose('size')
  return given || ratio
}

/** The supported aspect ratio nearest to a size; `isExact` within a hundredth. */
export function nearestRatio({ width, height }: ImageSize, known: readonly string[]): { ratio: string; isExact: boolean } {
  const wanted = Math.log(width / height)
  const ratios = known.map((ratio) => {
    const [across = 1, down = 1] = ratio.split(':').map(Number)
    return { ratio, distance: Math.abs(Math.log(across / down) - wanted) }
  })
  const nearest = ratios.reduce((best, one) => (one.distance < best.distance ? one : best))
  return { ratio: nearest.ratio, isExact: nearest.distance < 0.01 }
}

/** A reply in the Images format. */
export function writeImages(asked: CallerRequest, images: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { created: asked.createdAt, data: images, ...more }
}

function readSize(text: string): ImageSize | undefined {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(text) ?? []
  return width && height ? { width: Number(width), height: Number(height) } : undefined
}

function isImage({ field }: { readonly field: string }): boolean {
  return field === 'image' || field === 'image[]' || /^image\[\d+\]$/.test(field)
}

function fileOf({ mediaType, bytes }: { readonly mediaType: string; readonly bytes: Buffer }): ImageSource {
  const source = base64Source(bytes.toString('base64'), mediaType)
  return { mediaType: source.mediaType, data: source.data }
}

/** The images in `image`, one or several, and in `images`, the member of OpenAI's newer models. */
function sourcesIn(body: JsonObject): ImageSource[] {
  const single = typeof body.image === 'string' ? [body.image] : arrayAt(body, 'image')
  return [...single, ...arrayAt(body, 'images')].map((entry) => {
    const url = isObject(entry) ? textAt(entry, 'image_url') || textAt(objectAt(entry, 'image_url') ?? {}, 'url') : entry
    if (typeof url !== 'string' || url === '')
      fail('untranslatable', { field: 'image', reason: { zh: '只接受地址或内容', en: 'only addresses and bytes are taken' } })
    return sourceOf(url)
  })
}

function sourceOf(text: string): ImageSource {
  const source = readMediaUrl(text)
  if (source.kind === 'url') return { url: source.url }
  return source.kind === 'base64'
    ? { mediaType: source.mediaType, data: source.data }
    : fail('untranslatable', { field: 'image', reason: { zh: '不是图片', en: 'it is no image' } })
}
