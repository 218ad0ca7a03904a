import type { Handlers } from '../../../contract/route.ts'
import type { AllRoutes } from '../../../contract/routes/index.ts'
import { alertHandlers } from './alerts.ts'
import { batchHandlers } from './batches.ts'
import { budgetHandlers } from './budgets.ts'
import { channelHandlers } from './channels.ts'
import type { Context } from './context.ts'
import { dataHandlers } from './data.ts'
import { externalIdentityHandlers } from './external-identity.ts'
import { fileHandlers } from './files.ts'
import { logHandlers } from './logs.ts'
import { optionHandlers } from './options.ts'
import { organisationHandlers } from './organisations.ts'
import { overviewHandlers } from './overview.ts'
import { ownAccountHandlers } from './own-account.ts'
import { passkeyHandlers } from './passkeys.ts'
import { pricingHandlers } from './pricing.ts'
import { qualityCheckHandlers } from './quality-checks.ts'
import { recordingHandlers } from './recordings.ts'
import { redemptionHandlers } from './redemptions.ts'
import { registrationHandlers } from './registration.ts'
import { savedViewHandlers } from './saved-views.ts'
import { secondFactorHandlers } from './second-factor.ts'
import { sessionHandlers } from './session.ts'
import { signOnHandlers } from './sign-on.ts'
import { siteHandlers } from './site.ts'
import { statusPageHandlers } from './status-page.ts'
import { systemHandlers } from './system.ts'
import { taskHandlers } from './tasks.ts'
import { tokenHandlers } from './tokens.ts'
import { topUpHandlers } from './top-ups.ts'
import { userHandlers } from './users.ts'
import { walletHandlers } from './wallet.ts'

/** Every handler, one table per file of routes. */
export const allHandlers: Handlers<AllRoutes, Context> = {
  ...siteHandlers,
  ...statusPageHandlers,
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
  ...alertHandlers,
  ...overviewHandlers,
  ...qualityCheckHandlers,
  ...channelHandlers,
  ...pricingHandlers,
  ...tokenHandlers,
  ...organisationHandlers,
  ...signOnHandlers,
  ...budgetHandlers,
  ...taskHandlers,
  ...batchHandlers,
  ...fileHandlers,
  ...logHandlers,
  ...recordingHandlers,
  ...dataHandlers,
  ...redemptionHandlers,
  ...walletHandlers,
  ...topUpHandlers,
}
