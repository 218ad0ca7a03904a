import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { sitePath } from '../../lib/base-path.ts'
import { useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import { storedText } from '../../lib/stored.ts'
import { SafeHtml } from '../text/safe-html-view.tsx'
import styles from './footer.module.css'
import { texts } from './texts.ts'

const footerHtml = storedText('footer_html')
const pollMs = 200
const pollsMax = 5

/** The saved footer, or the credit line. */
export function Footer() {
  const say = useText(texts)
  const { system_name: name, sluice_version, version, status_page_enabled: isPublic } = useStatus()
  const html = useFooterHtml()
  return (
    <footer className={styles.footer}>
      {html ? <SafeHtml html={html} /> : say('credit', { name, own: sluice_version, version })}
      {html ? null : ' · '}
      <a href={sitePath('/docs/index.html')} className={styles.link}>
        {say('documents')}
      </a>
      {isPublic && (
        <>
          {' · '}
          <Link to="/status" className={styles.link}>
            {say('serviceStatus')}
          </Link>
        </>
      )}
    </footer>
  )
}

/** Other scripts may write the setting without an event: it is polled a few times until it exists. */
function useFooterHtml(): string {
  const known = footerHtml.use()
  const [found, setFound] = useState('')

  // Outside of React: local storage, read on a timer.
  useEffect(() => {
    let polls = 0
    const timer = setInterval(() => {
      const html = footerHtml.read()
      polls += 1
      if (html !== '') setFound(html)
      if (html !== '' || polls >= pollsMax) clearInterval(timer)
    }, pollMs)
    return () => clearInterval(timer)
  }, [])

  return known || found
}
