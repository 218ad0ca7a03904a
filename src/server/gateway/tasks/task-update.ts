import type { RunningChannel } from '../channels/index/model-index.ts'
import { isObject, type JsonObject, textAt } from '../protocols/wire-format.ts'
import type { Details } from './advance.ts'
import { readPercent, type SeenState } from './states.ts'
import type { TaskTable } from './task-table.ts'
import { cleanText, jsonText, webAddress } from './text.ts'

/** The state of one task as its upstream reports it. */
interface TaskUpdate {
  readonly id: string
  readonly seen: SeenState
  /** Columns that it sets. */
  readonly details: Details
}

const musicBytesMax = 512 * 1024

/** Reads one entry of a list of tasks, or a notification. Members of a wrong type are treated as absent. Pure. */
export function readTaskUpdate(table: TaskTable, item: JsonObject, channel: RunningChannel | undefined): TaskUpdate {
  return table === 'midjourneys' ? readDrawing(item, channel) : readMusic(item, channel)
}

function readDrawing(item: JsonObject, channel: RunningChannel | undefined): TaskUpdate {
  const text = (key: string, lengthMax: number) => cleanText(textAt(item, key), channel, lengthMax)
  const details = {
    ...filled('prompt_en', text('promptEn', 10_000)),
    ...filled('description', text('description', 2000)),
    ...filled('image_url', webAddress(item.imageUrl)),
    ...filled('buttons', jsonText(item.buttons, 64 * 1024)),
    ...filled('properties', jsonText(item.properties, 64 * 1024)),
    ...timeAt('start_time', item.startTime),
    ...timeAt('finish_time', item.finishTime),
  }
  return { id: idOf(item.id), seen: stateIn(item, text('failReason', 2000)), details }
}

function readMusic(item: JsonObject, channel: RunningChannel | undefined): TaskUpdate {
  const details = {
    ...filled('data', jsonText(item.data, musicBytesMax)),
    ...timeAt('start_time', item.start_time),
    ...timeAt('finish_time', item.finish_time),
  }
  return { id: idOf(item.task_id), seen: stateIn(item, cleanText(textAt(item, 'fail_reason'), channel)), details }
}

function stateIn(item: JsonObject, failReason: string): SeenState {
  return { status: textAt(item, 'status').toUpperCase(), failReason, progress: readPercent(item.progress) }
}

function idOf(value: unknown): string {
  return typeof value === 'number' ? String(value) : typeof value === 'string' ? value : ''
}

function filled(column: string, value: string): Details {
  return value === '' ? {} : { [column]: value }
}

function timeAt(column: string, value: unknown): Details {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value < 1e14 ? { [column]: value } : {}
}

/** By the upstream's ids; updates without one are left out. */
export function updatesById(table: TaskTable, items: readonly JsonObject[], channel: RunningChannel): Map<string, TaskUpdate> {
  const all = items.filter(isObject).map((item) => readTaskUpdate(table, item, channel))
  return new Map(all.filter(({ id }) => id !== '').map((update) => [update.id, update]))
}
