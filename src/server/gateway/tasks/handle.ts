import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { TaskCall } from '../relay/http/task-paths.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { readDrawingOrder } from './drawing-order.ts'
import { fetchDrawing, fetchSeed, fetchSong, listDrawings, listSongs } from './fetch.ts'
import { showImage } from './image.ts'
import { readMusicOrder } from './music-order.ts'
import { handleNotice } from './notify.ts'
import { submitOrder } from './submit.ts'
import { deleteVideo, getVideo, listVideos } from './videos/answer-videos.ts'
import { showClip } from './videos/content.ts'
import { readVideoOrder } from './videos/video-order.ts'

/**
 * Drawings by proxies for Midjourney, music by Suno, and clips of any vendor of videos: asynchronous tasks. An order is charged once when the upstream has accepted it
 * (`submit.ts`), its state only moves forward (`states.ts`, `advance.ts`), and a failed task is refunded with the update that reports
 * it. The relay's router passes all such calls to this function.
 */
export function handleTask(app: RelayParts, taskCall: TaskCall, call: ClientExchange): Promise<void> {
  switch (taskCall.action) {
    case 'draw':
      return submitOrder(app, call, { read: ({ json }) => readDrawingOrder(taskCall, json, app.options.current) })
    case 'compose':
      return submitOrder(app, call, { read: ({ json }) => readMusicOrder(taskCall.act, json) })
    case 'drawing':
      return fetchDrawing(app, call, taskCall.id)
    case 'drawings':
      return listDrawings(app, call)
    case 'seed':
      return fetchSeed(app, call, taskCall.id)
    case 'image':
      return showImage(app, call, taskCall.id)
    case 'notify':
      return handleNotice(app, call)
    case 'song':
      return fetchSong(app, call, taskCall.id)
    case 'songs':
      return listSongs(app, call)
    case 'film':
      return submitOrder(app, call, { read: (body) => readVideoOrder(app, body, taskCall.shape), from: taskCall.from })
    case 'video':
      return getVideo(app, call, taskCall)
    case 'videos':
      return listVideos(app, call, taskCall.from)
    case 'delete-video':
      return deleteVideo(app, call, taskCall)
    case 'clip':
      return showClip(app, call, taskCall.id)
  }
}
