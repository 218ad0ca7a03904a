/** The tabs of the settings, in their order; their names are in the address. */
export const tabs = [
  { value: 'personal', label: 'tabPersonal' },
  { value: 'operation', label: 'tabOperation' },
  { value: 'prices', label: 'tabPrices' },
  { value: 'ratelimit', label: 'tabRatelimit' },
  { value: 'models', label: 'tabModels' },
  { value: 'system', label: 'tabSystem' },
  { value: 'other', label: 'tabOther' },
  { value: 'runtime', label: 'tabRuntime' },
  { value: 'audit', label: 'tabAudit' },
] as const

export type Tab = (typeof tabs)[number]['value']

/** A tab that is drawn from declared options. */
export type OptionTab = Exclude<Tab, 'personal' | 'runtime' | 'audit'>
