import { z } from 'zod'
import type { Text } from '../text.ts'

/** A drawing, as lists show it. Times in milliseconds. `channel_id` is 0 and `username` '' for its owner. */
export const drawing = z.object({
  id: z.int(),
  code: z.int(),
  user_id: z.int(),
  username: z.string(),
  action: z.string(),
  mj_id: z.string(),
  prompt: z.string(),
  prompt_en: z.string(),
  description: z.string(),
  state: z.string(),
  submit_time: z.int(),
  start_time: z.int(),
  finish_time: z.int(),
  image_url: z.string(),
  /** The URL of the image through this site, regardless of `image_url`; '' while there is none. */
  preview_url: z.string(),
  status: z.string(),
  progress: z.string(),
  fail_reason: z.string(),
  channel_id: z.int(),
  /** Units; 0 for a failed task, because its charge was refunded. */
  quota: z.int(),
  buttons: z.string(),
  properties: z.string(),
})
export type Drawing = z.output<typeof drawing>

/** A piece of music or lyrics, as lists show it. Times in seconds. `channel_id` is 0 and `username` '' for its owner. */
export const task = z.object({
  id: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
  task_id: z.string(),
  platform: z.string(),
  user_id: z.int(),
  username: z.string(),
  channel_id: z.int(),
  /** Units; 0 for a failed task, because its charge was refunded. */
  quota: z.int(),
  action: z.string(),
  status: z.string(),
  fail_reason: z.string(),
  submit_time: z.int(),
  start_time: z.int(),
  finish_time: z.int(),
  progress: z.string(),
  properties: z.object({ input: z.string() }),
  data: z.unknown(),
})
export type Task = z.output<typeof task>

/** An order of clips, as lists show it. Times in unix seconds. `channel_id` is 0 and `username` '' for its owner. */
export const video = z.object({
  id: z.int(),
  /** The id that callers see: `video_…`. */
  video_id: z.string(),
  user_id: z.int(),
  username: z.string(),
  channel_id: z.int(),
  /** How it is made: a key of `videoActionLabels`. */
  action: z.string(),
  model: z.string(),
  prompt: z.string(),
  /** Length of one clip, as ordered. */
  seconds: z.number(),
  /** `720p`; '' where it is left to the vendor. */
  resolution: z.string(),
  /** Null where it is left to the vendor. */
  sound: z.boolean().nullable(),
  /** Number of clips, as ordered. */
  pieces: z.int(),
  status: z.string(),
  progress: z.string(),
  fail_reason: z.string(),
  submit_time: z.int(),
  finish_time: z.int(),
  /** Units that its owner has paid, without those of the refund. */
  quota: z.int(),
  /** Units that were refunded, because it failed or less was delivered than ordered. */
  refund: z.int(),
  /** Paths of its clips on this site, which need no token; none before it has succeeded, and after it was deleted. */
  clips: z.array(z.string()),
  /** Whether a part of a clip can be loaded without the rest. */
  has_ranges: z.boolean(),
  /** Deleted by its owner, who does not see it any more. */
  deleted: z.boolean(),
})
export type Video = z.output<typeof video>

/** The sort key of task lists: the order of submission. */
export const taskSorts = ['id'] as const

export interface Label {
  readonly label: Text
  readonly color: string
}

export const drawingActionLabels: Readonly<Record<string, Label>> = {
  IMAGINE: { label: { zh: '绘图', en: 'Imagine' }, color: 'blue' },
  UPSCALE: { label: { zh: '放大', en: 'Upscale' }, color: 'orange' },
  VARIATION: { label: { zh: '变换', en: 'Variation' }, color: 'violet' },
  HIGH_VARIATION: { label: { zh: '强变换', en: 'High variation' }, color: 'violet' },
  LOW_VARIATION: { label: { zh: '弱变换', en: 'Low variation' }, color: 'violet' },
  PAN: { label: { zh: '平移', en: 'Pan' }, color: 'cyan' },
  DESCRIBE: { label: { zh: '图生文', en: 'Describe' }, color: 'yellow' },
  BLEND: { label: { zh: '图混合', en: 'Blend' }, color: 'lime' },
  UPLOAD: { label: { zh: '上传文件', en: 'Upload' }, color: 'blue' },
  SHORTEN: { label: { zh: '缩词', en: 'Shorten' }, color: 'pink' },
  REROLL: { label: { zh: '重绘', en: 'Reroll' }, color: 'indigo' },
  INPAINT: { label: { zh: '局部重绘-提交', en: 'Vary region' }, color: 'grape' },
  ZOOM: { label: { zh: '变焦', en: 'Zoom' }, color: 'teal' },
  CUSTOM_ZOOM: { label: { zh: '自定义变焦-提交', en: 'Custom zoom' }, color: 'teal' },
  MODAL: { label: { zh: '窗口处理', en: 'Modal' }, color: 'green' },
  SWAP_FACE: { label: { zh: '换脸', en: 'Swap face' }, color: 'green' },
}

export const musicActionLabels: Readonly<Record<string, Label>> = {
  MUSIC: { label: { zh: '生成音乐', en: 'Music' }, color: 'gray' },
  LYRICS: { label: { zh: '生成歌词', en: 'Lyrics' }, color: 'pink' },
}

export const videoActionLabels: Readonly<Record<string, Label>> = {
  TEXT: { label: { zh: '文生视频', en: 'From text' }, color: 'blue' },
  IMAGE: { label: { zh: '图生视频', en: 'From an image' }, color: 'violet' },
  REFERENCE: { label: { zh: '参考生视频', en: 'From references' }, color: 'teal' },
}

/** The upstream's code for the order of a drawing. */
export const drawingCodeLabels: Readonly<Record<number, Label>> = {
  0: { label: { zh: '未提交', en: 'Not submitted' }, color: 'yellow' },
  1: { label: { zh: '已提交', en: 'Submitted' }, color: 'green' },
  21: { label: { zh: '重复提交', en: 'Duplicate' }, color: 'orange' },
  22: { label: { zh: '等待中', en: 'Waiting' }, color: 'lime' },
}

export const taskStatusLabels: Readonly<Record<string, Label>> = {
  '': { label: { zh: '正在提交', en: 'Submitting' }, color: 'gray' },
  NOT_START: { label: { zh: '未启动', en: 'Not started' }, color: 'gray' },
  SUBMITTED: { label: { zh: '队列中', en: 'In queue' }, color: 'yellow' },
  QUEUED: { label: { zh: '排队中', en: 'Queued' }, color: 'orange' },
  MODAL: { label: { zh: '窗口等待', en: 'Waiting for input' }, color: 'yellow' },
  IN_PROGRESS: { label: { zh: '执行中', en: 'In progress' }, color: 'blue' },
  SUCCESS: { label: { zh: '成功', en: 'Success' }, color: 'green' },
  FAILURE: { label: { zh: '失败', en: 'Failed' }, color: 'red' },
  UNKNOWN: { label: { zh: '未知', en: 'Unknown' }, color: 'gray' },
}

/**
 * Matching rows are counted up to this number beyond the beginning of the page that is shown; a total that reaches it is a lower
 * bound.
 */
export const tasksCountedAhead = 10_000
