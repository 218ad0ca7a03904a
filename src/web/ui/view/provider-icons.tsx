import {
  IconBrandGithub,
  IconBrandTelegram,
  IconBrandWechat,
  IconMessages,
  type IconProps,
  IconShieldCheck,
} from '@tabler/icons-react'
import type { IdentityProvider } from '../../../contract/entities/external-identity.ts'
import { providerNames } from '../../../contract/entities/external-identity.ts'
import { useLocal } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'

const icons = {
  github: IconBrandGithub,
  linuxdo: IconMessages,
  wechat: IconBrandWechat,
  telegram: IconBrandTelegram,
  oidc: IconShieldCheck,
} as const

export function ProviderIcon({ provider, ...props }: { provider: IdentityProvider } & IconProps) {
  const Icon = icons[provider]
  return <Icon size={18} stroke={1.7} aria-hidden="true" {...props} />
}

/** Display names of the providers. */
export function useProviderNames(): (provider: IdentityProvider) => string {
  const local = useLocal()
  const { oidc_name: own } = useStatus()
  return (provider) => (provider === 'oidc' && own !== '' ? own : local(providerNames[provider]))
}
