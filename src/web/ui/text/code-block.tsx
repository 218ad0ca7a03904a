import { type ComponentProps, isValidElement, useRef } from 'react'
import shared from '../shared.module.css'
import { CopyButton } from '../view/copy-text.tsx'
import styles from './code-block.module.css'

/** Preformatted text with its language, if it names one, and a button to copy it. */
export function CodeBlock(props: ComponentProps<'pre'>) {
  const block = useRef<HTMLPreElement>(null)
  const language = languageOf(props.children)
  return (
    <div className={styles.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable */}
      <pre {...props} ref={block} tabIndex={0} className={styles.text} />
      <div className={styles.tools}>
        {language && <span className={shared.note}>{language}</span>}
        <CopyButton text={() => block.current?.textContent ?? ''} />
      </div>
    </div>
  )
}

/** Markdown marks the language of a code element as `language-…`. */
function languageOf(children: unknown): string | undefined {
  if (!isValidElement<{ className?: string }>(children)) return undefined
  return /language-(\S+)/.exec(children.props.className ?? '')?.[1]
}
