import { useText } from '../../lib/i18n.ts'
import shared from '../../ui/shared.module.css'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { signOnTexts } from './sign-on-texts.ts'

/** An address to copy; there is none while the site has no address itself. */
export function Address({ text }: { text: string }) {
  const say = useText(signOnTexts)
  if (text === '') return <span className={shared.quiet}>{say('noAddress')}</span>
  return (
    <CopyText text={text}>
      <code className={shared.reference}>{text}</code>
    </CopyText>
  )
}
