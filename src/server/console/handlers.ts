import type { Handlers } from '../../contract/route.ts'
import type { AllRoutes } from '../../contract/routes/index.ts'
import { channelHandlers } from './channels.ts'
import type { Context } from './context.ts'
import { dataHandlers } from './data.ts'
import { externalIdentityHandlers } from './external-identity.ts'
import { logHandlers } from './logs.ts'
import { optionHandlers } from './options.ts'
import { ownAccountHandlers } from './own-account.ts'
import { passkeyHandlers } from './passkeys.ts'
import { pricingHandlers } from './pricing.ts'
import { redemptionHandlers } from './redemptions.ts'
import { registrationHandlers } from './registration.ts'
import { savedViewHandlers } from './saved-views.ts'
import { secondFactorHandlers } from './second-factor.ts'
import { sessionHandlers } from './session.ts'
import { siteHandlers } from './site.ts'
import { systemHandlers } from './system.ts'
import { taskHandlers } from './tasks.ts'
import { tokenHandlers } from './tokens.ts'
import { topUpHandlers } from './top-ups.ts'
import { userHandlers } from './users.ts'
import { walletHandlers } from './wallet.ts'

/** Every handler, one table per file of routes. */
export const allHandlers: Handlers<AllRoutes, Context> = {
  ...siteHandlers,
  ...sessionHandlers,
  ...registrationHandlers,
  ...ownAccountHandlers,
  ...savedViewHandlers,
  ...secondFactorHandlers,
  ...passkeyHandlers,
  ...externalIdentityHandlers,
  ...userHandlers,
  ...optionHandlers,
  ...systemHandlers,
  ...channelHandlers,
  ...pricingHandlers,
  ...tokenHandlers,
  ...taskHandlers,
  ...logHandlers,
  ...dataHandlers,
  ...redemptionHandlers,
  ...walletHandlers,
  ...topUpHandlers,
}
