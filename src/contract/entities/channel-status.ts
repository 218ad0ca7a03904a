import type { Text } from '../text.ts'

export const channelStatus = { enabled: 1, disabled: 2, autoDisabled: 3 } as const

export const channelStatusLabels: Readonly<Record<number, { label: Text; color: string }>> = {
  1: { label: { zh: '已启用', en: 'Enabled' }, color: 'green' },
  2: { label: { zh: '已禁用', en: 'Disabled' }, color: 'yellow' },
  3: { label: { zh: '自动禁用', en: 'Auto-disabled' }, color: 'orange' },
}

/** Colours of channel types as the API names them, each with the colour of the console's theme that displays it. */
export const channelColors = {
  green: 'green',
  'light-blue': 'cyan',
  teal: 'teal',
  grey: 'gray',
  blue: 'blue',
  pink: 'pink',
  orange: 'orange',
  indigo: 'indigo',
  violet: 'violet',
  purple: 'grape',
} as const
export type ChannelColor = keyof typeof channelColors

export const channelPriorityMin = -999
