package nbformat

import "fmt"

// CheckKernel reports whether the notebook belongs to the kernel with this name and
// language: by its kernelspec or, without one, by its language.
func (nb *Notebook) CheckKernel(name, language string) error {
	spec, _ := nb.Metadata["kernelspec"].(map[string]any)
	info, _ := nb.Metadata["language_info"].(map[string]any)
	if spec["name"] == name || spec == nil && info["name"] == language {
		return nil
	}
	found := "no kernel"
	if spec != nil {
		found = fmt.Sprintf("kernel %q", spec["name"])
	}
	if written, ok := info["name"].(string); ok {
		found += " (" + written + ")"
	}
	return fmt.Errorf("nbformat: %s: %s, expected kernel %q (%s): choose it in JupyterLab with Kernel, Change Kernel, and save",
		nb.Name, found, name, language)
}
