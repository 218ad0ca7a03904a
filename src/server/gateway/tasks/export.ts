import type { Drawing, Task, Video } from '../../../contract/entities/task.ts'
import { type CsvColumn, csvFile } from '../../base/lib/bytes/csv.ts'
import type { Core } from '../../base/options/core.ts'
import { forOwner, readDrawings, readTasks, readVideos, type TaskFilter } from './lists.ts'

/** The rows of a file: those of one user as their owner sees them, or of all users. */
interface TaskExport {
  readonly filter: TaskFilter
  readonly timeZone: string
}

const seconds = (ms: number) => Math.floor(ms / 1000)
const drawingColumns: readonly CsvColumn<Drawing>[] = [
  'mj_id',
  { name: 'submitted', time: (row) => seconds(row.submit_time) },
  { name: 'finished', time: (row) => seconds(row.finish_time) },
  ...(['action', 'status', 'progress', 'quota', 'prompt', 'prompt_en', 'image_url', 'fail_reason'] as const),
]
const taskColumns: readonly CsvColumn<Task>[] = [
  'task_id',
  { name: 'submitted', time: (row) => row.submit_time },
  { name: 'finished', time: (row) => row.finish_time },
  ...(['platform', 'action', 'status', 'progress', 'quota'] as const),
  { name: 'prompt', value: (row) => row.properties.input },
  'fail_reason',
]
const videoColumns: readonly CsvColumn<Video>[] = [
  'video_id',
  { name: 'submitted', time: (row) => row.submit_time },
  { name: 'finished', time: (row) => row.finish_time },
  ...(['action', 'model', 'status', 'progress', 'seconds', 'resolution'] as const),
  { name: 'sound', value: ({ sound }) => (sound === null ? '' : sound ? 'with' : 'without') },
  'pieces',
  { name: 'delivered', value: ({ clips }) => clips.length },
  ...(['quota', 'refund', 'prompt', 'fail_reason'] as const),
]
/** Columns for admins only. */
const forAdmins = ['id', 'user_id', 'username', 'channel_id'] as const

/** The drawings that match, as CSV. */
export function exportDrawings(core: Core, { filter, timeZone }: TaskExport) {
  return csvFile({
    columns: columnsFor(drawingColumns, filter),
    timeZone,
    read: async (below, limit) => {
      const rows = await readDrawings(core, { filter: { ...filter, before: below }, page: { offset: 0, limit } })
      return filter.userId === undefined ? rows : forOwner(rows)
    },
  })
}

/** The music that matches, as CSV. */
export function exportTasks(core: Core, { filter, timeZone }: TaskExport) {
  return csvFile({
    columns: columnsFor(taskColumns, filter),
    timeZone,
    read: async (below, limit) => {
      const rows = await readTasks(core, { filter: { ...filter, before: below }, page: { offset: 0, limit } })
      return filter.userId === undefined ? rows : forOwner(rows)
    },
  })
}

/** The videos that match, as CSV. */
export function exportVideos(core: Core, { filter, timeZone }: TaskExport) {
  return csvFile({
    columns: columnsFor(videoColumns, filter),
    timeZone,
    read: async (below, limit) => {
      const rows = await readVideos(core, { filter: { ...filter, before: below }, page: { offset: 0, limit } })
      return filter.userId === undefined ? rows : forOwner(rows)
    },
  })
}

function columnsFor<Row extends Drawing | Task | Video>(
  columns: readonly CsvColumn<Row>[],
  { userId }: TaskFilter,
): readonly CsvColumn<Row>[] {
  return userId === undefined ? [...columns, ...forAdmins] : columns
}
