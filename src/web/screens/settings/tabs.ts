/** The tabs of the settings, in their order; their names are in the address. */
export const tabs = [
  { value: 'personal', label: 'tabPersonal' },
  { value: 'operation', label: 'tabOperation' },
  { value: 'ratelimit', label: 'tabRatelimit' },
  { value: 'models', label: 'tabModels' },
  { value: 'system', label: 'tabSystem' },
  { value: 'other', label: 'tabOther' },
] as const

/** A tab that is drawn from declared options. */
export type OptionTab = Exclude<(typeof tabs)[number]['value'], 'personal'>
