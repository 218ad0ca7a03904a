import type { Text } from '../../../../contract/text.ts'
import { agreeClip, clipUsd, videoPriceOf } from '../../../../contract/video-price.ts'
import { fail } from '../../../base/lib/failure.ts'
import { CallFailure } from '../../../base/lib/net/upstream-http/exchange.ts'
import { randomText } from '../../../base/lib/secrets/ids.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import { actionOf, type OrderedClip, type Picture } from '../../providers/videos/video-vendor.ts'
import type { Body } from '../../relay/http/read-body.ts'
import type { VideoShape } from '../../relay/http/task-paths.ts'
import type { RelayParts } from '../../relay/relay-parts.ts'
import { fetchFile } from '../../relay/upstream/fetch-media.ts'
import { isTaskId, type Order, type QuestionFacts, type Verdict } from '../order.ts'
import { cleanText } from '../text.ts'
import { type AskedVideo, readAskedVideo } from './read-asked.ts'
import { type StoredClip, writeClip } from './stored-clip.ts'
import { vendorCall } from './vendor-call.ts'

type OrderParts = Pick<RelayParts, 'mediaMemory' | 'now' | 'options' | 'upstream'>

const timeoutMs = 60_000
const answerBytesMax = 1024 * 1024
const pictureBytesMax = 20 * 1024 * 1024

/**
 * Reads an order of clips, and agrees on what is sold by the price table of the model: this is what is charged and what is sent to
 * the vendor, so that no member of a request can get more than is paid. Throws what `readAskedVideo` throws, and `field_invalid` for
 * a clip that the table does not have.
 */
export function readVideoOrder(app: OrderParts, body: Body, shape: VideoShape): Order {
  const asked = readAskedVideo(body)
  const table = videoPriceOf(app.options.current.VideoPrice, asked.model)
  const agreed = table
    ? agreeClip(table, asked)
    : { clip: { ...asked, seconds: asked.seconds ?? secondsUnpriced }, rate: undefined }
  if (!('clip' in agreed)) return fail('field_invalid', { field: agreed.field, reason: agreed.reason })
  const { clip, rate } = agreed
  const usd = table && rate ? clipUsd(table, rate, clip.seconds) : undefined
  const stored: StoredClip = {
    seconds: clip.seconds,
    resolution: clip.resolution,
    ...(clip.hasSound === undefined ? {} : { sound: clip.hasSound }),
    pieces: clip.pieces,
    size: asked.size,
    ...(table && rate ? { per: table.per, usd: rate.usd } : {}),
  }
  const publicId = `video_${randomText(32)}`
  const action = actionOf(asked)
  const answer = orderAnswer(shape, { publicId, asked, stored, createdAt: seconds(app.now()) })

  return {
    table: 'videos',
    format: 'video',
    action,
    models: [asked.model],
    prices: [asked.model],
    prompt: [asked.prompt, asked.negativePrompt].filter((text) => text !== '').join('\n'),
    parent: undefined,
    sold: { usd, pieces: clip.pieces, seconds: clip.seconds, text: soldText(stored), id: publicId },
    details: { action, public_id: publicId, model: asked.model, prompt: asked.prompt.slice(0, 10_000) },
    priced: (price) => ({
      clip: writeClip({ ...stored, groupRatio: price.groupRatio, quotaPerUnit: price.quotaPerUnit, fixedUsd: price.fixedUsd }),
    }),
    async question(facts) {
      const ordered = await orderedClip(app, { asked, stored, facts })
      const call = vendorCall(facts.keyed, vendorOf(facts.channel).order(facts.channel, ordered))
      return { ...call, timeoutMs, sizeBytesMax: answerBytesMax }
    },
    read: (reply, channel, upstreamModel) => readVerdict(reply, channel, { answer, upstreamModel }),
  }
}

/** The length of a clip for which neither the request nor a price table has one. */
const secondsUnpriced = 5

export function vendorOf({ provider }: RunningChannel) {
  return provider.videos ?? fail('channel_disabled')
}

interface Ordering {
  readonly asked: AskedVideo
  readonly stored: StoredClip
  readonly facts: QuestionFacts
}

async function orderedClip(app: OrderParts, { asked, stored, facts }: Ordering): Promise<OrderedClip> {
  const vendor = vendorOf(facts.channel)
  const most = vendor.piecesMax ?? 1
  if (asked.pieces > most) fail('field_invalid', { field: 'n', reason: { zh: `最多 ${most}`, en: `at most ${most}` } })
  const picture = (each: Picture | undefined) => (each && vendor.needsBytes ? withBytes(app, each) : each)
  const references = await Promise.all(asked.references.map(picture))
  return {
    ...asked,
    seconds: stored.seconds,
    resolution: stored.resolution,
    hasSound: stored.sound,
    model: facts.mapped(asked.model),
    first: await picture(asked.first),
    last: await picture(asked.last),
    references: references.filter((each) => each !== undefined),
    more: Object.fromEntries(
      vendor.passes.flatMap((name) => (asked.members[name] === undefined ? [] : [[name, asked.members[name]]])),
    ),
  }
}

/** Only addresses on the public internet are fetched. */
async function withBytes(app: OrderParts, picture: Picture): Promise<Picture> {
  if (picture.kind === 'bytes') return picture
  const share = app.mediaMemory.open()
  try {
    const { status, headers, body } = await fetchFile(app.upstream, share, {
      url: picture.url,
      sizeBytesMax: pictureBytesMax,
      timeoutMs: 20_000,
    })
    if (status !== 200) refusePicture({ zh: `地址答复状态码 ${status}`, en: `the address answered with status ${status}` })
    return {
      kind: 'bytes',
      base64: body.toString('base64'),
      mediaType: String(headers['content-type'] ?? 'image/png').split(';', 1)[0] ?? '',
    }
  } catch (error) {
    if (error instanceof CallFailure) return refusePicture(error.text)
    throw error
  } finally {
    share.release()
  }
}

function refusePicture(reason: Text): never {
  fail('field_invalid', { field: 'image', reason })
}

function readVerdict(
  reply: JsonObject,
  channel: RunningChannel,
  { answer, upstreamModel }: { readonly answer: JsonObject; readonly upstreamModel: string },
): Verdict | undefined {
  const job = vendorOf(channel).accepted(reply)
  if (typeof job !== 'string') {
    if (job.reason === '' && job.code === '') return undefined
    const refused = { isAccepted: false, isOutOfAccounts: false, answer: undefined, details: {} } as const
    return {
      ...refused,
      isChannels: job.isChannels === true,
      code: job.code || 'video_refused',
      reason: cleanText(job.reason, channel),
    }
  }
  // Names of operations have slashes.
  if (!isTaskId(job.replaceAll('/', '_').slice(0, 128)) || job.length > 500) return undefined
  const details = { upstream_model: upstreamModel }
  return { isAccepted: true, upstreamId: job, isRepeated: false, status: 'QUEUED', details, answer }
}

function soldText({ seconds: length, resolution, sound, pieces }: StoredClip): Text {
  const size = resolution === '' ? '' : ` ${resolution}`
  const heard =
    sound === undefined ? { zh: '', en: '' } : sound ? { zh: ' 有声', en: ' with sound' } : { zh: ' 无声', en: ' without sound' }
  return {
    zh: `视频 ${length} 秒${size}${heard.zh} × ${pieces}`,
    en: `video of ${length} s${size}${heard.en} × ${pieces}`,
  }
}

interface Ordered {
  readonly publicId: string
  readonly asked: AskedVideo
  readonly stored: StoredClip
  readonly createdAt: number
}

function orderAnswer(shape: VideoShape, { publicId, asked, stored, createdAt }: Ordered): JsonObject {
  const video = {
    id: publicId,
    object: 'video',
    model: asked.model,
    status: 'queued',
    progress: 0,
    created_at: createdAt,
    completed_at: null,
    expires_at: null,
    error: null,
    seconds: String(stored.seconds),
    size: asked.size || stored.resolution,
    prompt: asked.prompt,
    remixed_from_video_id: null,
  }
  return shape === 'videos' ? video : { ...video, task_id: publicId }
}
