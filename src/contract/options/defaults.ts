import { sealed } from './codec.ts'
import { defaultPrices } from './default-prices.ts'
import { allOptions, type OptionValues } from './index.ts'

/** The value of every option on a fresh site. The web does not import this module, because it contains the price tables. */
// `checkOptions` shows at start that every option has a value here, and that it passes the option's schema.
export const defaults = sealed({
  ...Object.fromEntries(Object.entries(allOptions).map(([key, option]) => [key, option.default])),
  ...defaultPrices,
}) as OptionValues
