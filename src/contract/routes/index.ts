import type { Routes } from '../route.ts'
import { alertRoutes } from './alerts.ts'
import { batchRoutes } from './batches.ts'
import { budgetRoutes } from './budgets.ts'
import { channelRoutes } from './channels.ts'
import { dataRoutes } from './data.ts'
import { externalIdentityRoutes } from './external-identity.ts'
import { fileRoutes } from './files.ts'
import { logRoutes } from './logs.ts'
import { optionRoutes } from './options.ts'
import { organisationRoutes } from './organisations.ts'
import { overviewRoutes } from './overview.ts'
import { ownAccountRoutes } from './own-account.ts'
import { passkeyRoutes } from './passkeys.ts'
import { pricingRoutes } from './pricing.ts'
import { qualityCheckRoutes } from './quality-checks.ts'
import { recordingRoutes } from './recordings.ts'
import { redemptionRoutes } from './redemptions.ts'
import { registrationRoutes } from './registration.ts'
import { savedViewRoutes } from './saved-views.ts'
import { secondFactorRoutes } from './second-factor.ts'
import { sessionRoutes } from './session.ts'
import { signOnRoutes } from './sign-on.ts'
import { siteRoutes } from './site.ts'
import { statusPageRoutes } from './status-page.ts'
import { systemRoutes } from './system.ts'
import { taskRoutes } from './tasks.ts'
import { tokenRoutes } from './tokens.ts'
import { topUpRoutes } from './top-ups.ts'
import { userRoutes } from './users.ts'
import { walletRoutes } from './wallet.ts'

/** Every console call of the product. A new file of routes is one line here and one handler table in `server/console/calls`. */
export const allRoutes = {
  ...siteRoutes,
  ...statusPageRoutes,
  ...sessionRoutes,
  ...registrationRoutes,
  ...ownAccountRoutes,
  ...savedViewRoutes,
  ...secondFactorRoutes,
  ...passkeyRoutes,
  ...externalIdentityRoutes,
  ...userRoutes,
  ...optionRoutes,
  ...systemRoutes,
  ...alertRoutes,
  ...overviewRoutes,
  ...qualityCheckRoutes,
  ...channelRoutes,
  ...pricingRoutes,
  ...tokenRoutes,
  ...organisationRoutes,
  ...signOnRoutes,
  ...budgetRoutes,
  ...taskRoutes,
  ...batchRoutes,
  ...fileRoutes,
  ...logRoutes,
  ...recordingRoutes,
  ...dataRoutes,
  ...redemptionRoutes,
  ...walletRoutes,
  ...topUpRoutes,
} as const satisfies Routes

export type AllRoutes = typeof allRoutes
export type Line = keyof AllRoutes
