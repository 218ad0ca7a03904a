import { sameSecret } from '../../base/lib/secrets/secrets.ts'
import type { Core } from '../../base/options/core.ts'

/** The permission of a link: to see one image or the clips of one video, or to report on one drawing. */
type Purpose = 'drawing-image' | 'drawing-notice' | 'video-content'

const macLength = 32

/**
 * The secret part of a link to one task: it gives access to that task alone. Images and clips are shown in tags that send no token, and
 * upstreams have none.
 */
export function linkKey({ secrets }: Pick<Core, 'secrets'>, purpose: Purpose, id: number): string {
  return `${id.toString(36)}.${secrets.mac(purpose, String(id)).slice(0, macLength)}`
}

/** The row that a link is for; undefined when the link was not made here for this purpose. */
export function readLinkKey(core: Pick<Core, 'secrets'>, purpose: Purpose, key: string): number | undefined {
  const id = Number.parseInt(/^([0-9a-z]{1,10})\.[0-9a-f]+$/.exec(key)?.[1] ?? '', 36)
  return Number.isSafeInteger(id) && sameSecret(key, linkKey(core, purpose, id)) ? id : undefined
}

/** The path of a drawing's image on this site. */
export function imagePath(core: Pick<Core, 'secrets'>, { id, upstreamId }: { id: number; upstreamId: string }): string {
  return `/mj/image/${encodeURIComponent(upstreamId)}?key=${linkKey(core, 'drawing-image', id)}`
}

/** The path of a clip on this site. */
export function videoPath(
  core: Pick<Core, 'secrets'>,
  { id, publicId, index }: { readonly id: number; readonly publicId: string; readonly index: number },
): string {
  const part = index === 0 ? '' : `&index=${index}`
  return `/v1/videos/${publicId}/content?key=${linkKey(core, 'video-content', id)}${part}`
}

/** The URL to which the upstream may report on a drawing; '' while this site has no server address. */
export function noticeUrl({ secrets, options }: Pick<Core, 'secrets' | 'options'>, id: number): string {
  const { ServerAddress } = options.current
  return ServerAddress === '' ? '' : `${ServerAddress}/mj/notify?key=${linkKey({ secrets }, 'drawing-notice', id)}`
}
