import type { Redemption } from '../../../contract/entities/redemption.ts'
import { useText } from '../../lib/i18n.ts'
import { MaskedText } from '../../ui/view/masked-text.tsx'
import { texts } from './texts.ts'

/** Masked like a password, so that it cannot be read over a shoulder. */
export function CodeCell({ code: { key, name } }: { code: Redemption }) {
  const say = useText(texts)
  return (
    <MaskedText
      text={key}
      masked={`${key.slice(0, 4)}…${key.slice(-4)}`}
      name={name}
      show={say('showKey', { name })}
      hide={say('hideKey', { name })}
    />
  )
}
