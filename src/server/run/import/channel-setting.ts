import type { SourceRow } from './source-row.ts'

/** Members of `setting` in new-api that have the same meaning in Sluice. */
const kept = ['proxy', 'force_format', 'thinking_to_content', 'system_prompt'] as const
/** new-api names of the ways to choose among several keys → Sluice names. */
const keyModes: Readonly<Record<string, string>> = { random: 'random', polling: 'round-robin' }

/** The channel `setting` as JSON: `setting` of new-api, its columns for overrides, and the system prompt of one-api. */
export function readSettingOf(row: SourceRow): string {
  const given = row.object('setting')
  // Invalid JSON is kept unchanged, and the channel stays disabled until an admin repairs it.
  if (!given) return row.text('setting')
  const setting: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    if (kept.some((one) => one === name)) setting[name] = value
    else if (value && name !== 'system_prompt_override')
      row.note(`setting.${name} has no counterpart`, JSON.stringify(value).slice(0, 100))
  }
  if (setting.system_prompt === '') delete setting.system_prompt
  if (setting.proxy === '') delete setting.proxy
  if (row.text('system_prompt') !== '') setting.system_prompt = row.text('system_prompt')
  if (setting.system_prompt && row.has('setting')) setting.system_prompt_mode = given.system_prompt_override ? 'prepend' : 'fill'
  for (const column of ['param_override', 'header_override'] as const) {
    const override = row.object(column)
    if (!override) setting[column] = row.text(column)
    else if (Object.keys(override).length > 0) setting[column] = override
  }
  const mode = row.object('channel_info')?.multi_key_mode
  if (typeof mode === 'string' && keyModes[mode]) setting.key_mode = keyModes[mode]
  return Object.keys(setting).length === 0 ? '' : JSON.stringify(setting)
}
