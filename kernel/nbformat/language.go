package nbformat

import "warpbook/kernel/leaf/lazyregexp"

// languageTag matches a tag of BCP 47 such as "en" or "zh-CN".
var languageTag = lazyregexp.New(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)

// Language returns the language of the notebook's prose: metadata.lang, a tag of
// BCP 47, or "en" without one. The Jupyter format names only the language of cells.
// "lang" is the name that HTML and Pandoc use.
func (nb *Notebook) Language() string {
	if tag, ok := nb.Metadata["lang"].(string); ok && languageTag().MatchString(tag) {
		return tag
	}
	return "en"
}
