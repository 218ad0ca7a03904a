import type { Row } from '../../base/db/schema.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import { withoutOperatorDetails } from '../../base/lib/log/operator-details.ts'
import type { Core } from '../../base/options/core.ts'
import { imagePath } from './links.ts'
import { isEnd } from './states.ts'

/** The texts of a task that its upstream wrote, as callers and owners may see them. Admins see the rows. */
export function toldTexts<Task extends { readonly fail_reason: string; readonly description?: string }>(row: Task): Task {
  const fail_reason = withoutOperatorDetails(row.fail_reason)
  if (row.description === undefined) return { ...row, fail_reason }
  return { ...row, fail_reason, description: withoutOperatorDetails(row.description) }
}

/** A drawing as the clients of the proxies expect it. */
export function presentDrawing(core: Core, row: Row<'midjourneys'>) {
  const { description, fail_reason: failReason } = toldTexts(row)
  return {
    id: row.mj_id,
    action: row.action,
    customId: '',
    botType: '',
    prompt: row.prompt,
    promptEn: row.prompt_en,
    description,
    state: row.state,
    submitTime: row.submit_time,
    startTime: row.start_time,
    finishTime: row.finish_time,
    imageUrl: imageUrl(core, row),
    status: row.status,
    progress: row.progress,
    failReason,
    buttons: parsed(row.buttons, []),
    maskBase64: '',
    properties: parsed(row.properties, { finalPrompt: '', finalZhPrompt: '' }),
  }
}

/** Music as the clients of its interface expect it. */
export function presentMusic(row: Row<'tasks'>) {
  return {
    task_id: row.task_id,
    action: row.action,
    status: row.status,
    fail_reason: toldTexts(row).fail_reason,
    submit_time: row.submit_time,
    start_time: row.start_time,
    finish_time: row.finish_time,
    progress: row.progress,
    data: parsed(row.data, null),
  }
}

/** The URL of the image: through this site, unless the operator exposes the upstreams' URLs. */
export function imageUrl(core: Core, row: Row<'midjourneys'>): string {
  const { MjForwardUrlEnabled, ServerAddress } = core.options.current
  if (row.image_url === '' || !MjForwardUrlEnabled) return row.image_url
  // An unfinished image gets another URL with each progress, so that no cache shows an old one.
  const changing = isEnd(row.status) ? '' : `&rand=${Number.parseInt(row.progress, 10) || 0}`
  return `${ServerAddress || core.env.BASE_PATH}${imagePath(core, { id: row.id, upstreamId: row.mj_id })}${changing}`
}

function parsed(text: string, fallback: unknown): unknown {
  const value = readJson(text)
  return value === undefined ? fallback : value
}
